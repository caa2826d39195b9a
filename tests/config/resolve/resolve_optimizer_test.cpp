#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace resolve_optimizer_test {

using test::parse_base;

TEST(ResolveOptimizer, SchedulesCountSamples) {
  const RunConfig iterations = parse_base("--lr-warmup-iters 4").run;
  EXPECT_EQ(iterations.optimizer.lr_decay_steps, 160);
  EXPECT_EQ(iterations.optimizer.lr_warmup_steps, 32);
  EXPECT_EQ(iterations.optimizer.wd_incr_steps, 160);
  EXPECT_DOUBLE_EQ(parse_base("--lr-warmup-fraction 0.01").run.optimizer.lr_warmup_steps, 1.6);
  const RunConfig wsd = parse_base("--lr-decay-style WSD --lr-wsd-decay-iters 8").run;
  EXPECT_EQ(wsd.optimizer.lr_wsd_decay_steps, 64);
}

}  // namespace resolve_optimizer_test
}  // namespace mpitron::config
