#include "plan/published/refit.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "plan/planned_run.h"
#include "plan/published/prediction.h"

namespace mpitron::plan {
namespace refit_test {

PublishedRow row_of(Index hidden, Index sequence) {
  PublishedRow row;
  row.source = "somebody";
  row.hardware = "dgx-a100-80-ib8x200";
  row.micro_batch = row.chunks = 1;
  row.recompute_known = true;
  row.run = test::planned_run({.layers = 24, .hidden = hidden, .heads = hidden / 128}, sequence, 16,
                              {.gpus = 8, .tensor = 8});
  return row;
}

/// A library whose machine is slower than the rows say.
TEST(Refit, FindsWhatTheRowsWereMadeWith) {
  const Library truth;
  std::vector<PublishedRow> rows;
  for (const Index hidden : {2048, 4096, 6144, 8192}) {
    for (const Index sequence : {1024, 2048, 8192}) {
      PublishedRow row = row_of(hidden, sequence);
      const RowParts parts = parts_of(truth, row);
      row.seconds = predict(*parts.machine, *parts.stack, row).time.seconds();
      rows.push_back(std::move(row));
    }
  }
  Library library;
  for (ParameterFile& file : library.machines.all()) {
    if (file.name == "a100-dgx") {
      file.fitted.at("products.bf16") *= 0.7;
    }
  }
  const FitResult result = refit(library, rows);
  EXPECT_GT(result.error_before, 0.05);
  EXPECT_LT(result.error_after, 0.01);
  EXPECT_EQ(result.rows, 12U);
  const auto products = std::ranges::find(result.parameters, std::string("a100-dgx products.bf16"),
                                          &FittedParameter::name);
  ASSERT_NE(products, result.parameters.end());
  EXPECT_GT(products->learned, 0.5);
  EXPECT_FALSE(products->correlated_with.empty());
  EXPECT_FALSE(result.undetermined.empty());  // nobody has run on other machines
}

}  // namespace refit_test
}  // namespace mpitron::plan
