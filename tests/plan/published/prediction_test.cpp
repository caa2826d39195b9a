#include "plan/published/prediction.h"

#include <gtest/gtest.h>

namespace mpitron::plan {
namespace prediction_test {

PublishedRow row_of(const std::string& hardware) {
  PublishedRow row;
  row.source = "somebody";
  row.hardware = hardware;
  row.job = {.model = {.layers = 24,
                       .hidden = 2048,
                       .ffn = 8192,
                       .heads = 16,
                       .kv_heads = 16,
                       .head_dim = 128,
                       .vocab = 51200},
             .layout = {.gpus = 8, .tensor = 8, .sequence_parallel = true},
             .sequence = 2048,
             .global_batch = 16};
  return row;
}

TEST(Prediction, UnknownHardwareIsNotGuessed) {
  const Library library;
  EXPECT_FALSE(parts_of(library, row_of("abacus-1")).machine);
  const RowParts parts = parts_of(library, row_of("dgx-a100-80-ib8x200"));
  EXPECT_TRUE(parts.machine);
  EXPECT_FALSE(parts.stack_is_known);
  EXPECT_TRUE(parts.stack);
}

TEST(Prediction, LargerModelsTakeLonger) {
  const Library library;
  PublishedRow row = row_of("dgx-a100-80-ib8x200");
  const RowParts parts = parts_of(library, row);
  const double small = predict(*parts.machine, *parts.stack, row).time.seconds();
  row.job.model.layers *= 2;
  EXPECT_GT(predict(*parts.machine, *parts.stack, row).time.seconds(), 1.5 * small);
}

}  // namespace prediction_test
}  // namespace mpitron::plan
