#include <gtest/gtest.h>

#include "support/golden_folder.h"
#include "train/parity/recorded_batches.h"
#include "utils/error.h"

namespace mpitron::train {
namespace recorded_texts_test {

TEST(RecordedTexts, LabelsOfRunningTextAreTheNextTokens) {
  RecordedTexts texts(test::golden_folder() + "/curves/gpt-rope-gqa", config::SampleKind::texts);
  const HostMicrobatch rows = texts.rows(0, 2);
  EXPECT_EQ(rows[models::kLabels][0], rows[models::kTokens][1]);
  EXPECT_TRUE(rows[models::kPaddingMask].empty());
  EXPECT_THROW(texts.rows(1000000, 1), Error);
}

}  // namespace recorded_texts_test
}  // namespace mpitron::train
