#include "plan/published/prediction.h"

#include <gtest/gtest.h>

#include "plan/machine/exit_codes.h"
#include "plan/published/published_row_sample.h"
#include "utils/error.h"

namespace mpitron::plan {
namespace prediction_test {

using test::published_row;

TEST(Prediction, UnknownHardwareIsNotGuessed) {
  const Library library;
  EXPECT_FALSE(parts_of(library, published_row("abacus-1")).machine);
  const RowParts parts = parts_of(library, published_row("dgx-a100-80-ib8x200"));
  EXPECT_TRUE(parts.machine);
  EXPECT_FALSE(parts.stack_is_known);
  EXPECT_EQ(parts.stack->name, "megatron");
  PublishedRow sharded = published_row("dgx-a100-80-ib8x200");
  sharded.run.parallel.sharding_strategy = config::ShardingStrategy::optim_grads_params;
  EXPECT_EQ(parts_of(library, sharded).stack->name, "pytorch");
}

TEST(Prediction, SoftwareFromBeforeFlashAttentionIsLikeThatOfItsTime) {
  const Library library;
  PublishedRow row = published_row("dgx-a100-80-ib8x200");
  const auto stack = [&] { return parts_of(library, row).stack->name; };
  row.options = "ALiBi; no flash attention; gradients in fp16";
  EXPECT_EQ(stack(), "megatron-2021");
  row.options = "flash attention";
  EXPECT_EQ(stack(), "megatron");
  row.source = "Somebody 2021, arXiv 2112.11446";
  EXPECT_EQ(stack(), "megatron-2021");
  row.source = "Somebody 2023, arXiv 2301.00001";
  EXPECT_EQ(stack(), "megatron");
}

TEST(Prediction, LargerModelsTakeLonger) {
  const Library library;
  const PublishedRow row = published_row("dgx-a100-80-ib8x200");
  const RowParts parts = parts_of(library, row);
  const double small = predict(*parts.machine, *parts.stack, row).time.seconds();
  EXPECT_GT(predict(*parts.machine, *parts.stack, published_row(row.hardware, 48)).time.seconds(),
            1.5 * small);
}

TEST(Prediction, SecondsFollowFromWhatIsReported) {
  PublishedRow row = published_row("dgx-a100-80-ib8x200");
  const Machine machine = *Library().machine(row.hardware);
  const double tokens = 16 * 2048, flops = step_flops(make_job(row.run), FlopsFormula::full);
  const auto seconds = [&](FigureUnit unit, double value) {
    row.unit = unit;
    row.value = value;
    return measured_seconds(row, machine);
  };
  EXPECT_DOUBLE_EQ(seconds(FigureUnit::milliseconds, 1500), 1.5);
  EXPECT_DOUBLE_EQ(seconds(FigureUnit::tokens, tokens / 2), 2);
  EXPECT_DOUBLE_EQ(seconds(FigureUnit::tokens_of_gpu, tokens / 8), 1);
  EXPECT_DOUBLE_EQ(seconds(FigureUnit::samples, 4), 4);
  EXPECT_NEAR(seconds(FigureUnit::tera_of_gpu, 100), flops / 8e14, 1e-9);
  EXPECT_NEAR(seconds(FigureUnit::utilization, 50), flops / (8 * 156e12), 1e-9);
}

TEST(Prediction, WithoutLayoutTheBestIsSearched) {
  PublishedRow row = published_row("dgx-a100-80-ib8x200");
  const Library library;
  const RowParts parts = parts_of(library, row);
  const double given = predict(*parts.machine, *parts.stack, row).time.seconds();
  const auto best = predict_best_layout(*parts.machine, *parts.stack, row);
  ASSERT_TRUE(best);
  EXPECT_LT(best->time.seconds(), given);
  PublishedRow large = published_row(row.hardware, 2000);
  try {
    predict_best_layout(*parts.machine, *parts.stack, large);
    FAIL() << "100 billion parameters do not fit on 8 GPUs";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kFitsNowhere);
  }
  row.run.training.global_batch_size = 0;
  EXPECT_FALSE(predict_best_layout(*parts.machine, *parts.stack, row));
}

}  // namespace prediction_test
}  // namespace mpitron::plan
