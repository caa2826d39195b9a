#include "plan/published/validation.h"

#include <gtest/gtest.h>

namespace mpitron::plan {
namespace validation_test {

TEST(Validation, ErrorsAreSummarizedByClass) {
  PublishedRow measured;
  measured.seconds = 1;
  Validation validation;
  for (int i = 0; i <= 10; ++i) {
    validation.rows.push_back(
        {.row = &measured, .group = "a", .predicted = 1 + 0.01 * i * (i % 2 == 0 ? 1 : -1)});
  }
  const std::vector<ErrorSummary> summary = summarize(validation);
  ASSERT_EQ(summary.size(), 1U);
  EXPECT_EQ(summary[0].rows, 11U);
  EXPECT_NEAR(summary[0].median, 0.05, 1e-12);
  EXPECT_NEAR(summary[0].ninth_decile, 0.09, 1e-12);
  EXPECT_NEAR(summary[0].largest, 0.10, 1e-12);
}

}  // namespace validation_test
}  // namespace mpitron::plan
