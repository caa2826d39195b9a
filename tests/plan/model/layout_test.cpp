#include "plan/model/layout.h"

#include <gtest/gtest.h>

namespace mpitron::plan {
namespace layout_test {

TEST(Layout, DataRanksAreWhatIsLeft) {
  const Layout layout{.gpus = 64, .tensor = 4, .pipeline = 2, .context = 2};
  EXPECT_EQ(layout.data(), 4);
  EXPECT_EQ(to_text(layout), "tp 4 cp 2 pp 2 vp 1 ep 1 mbs 1 dp 4 ddp recompute none");
  const Job job{.layout = layout, .global_batch = 32};
  EXPECT_EQ(job.microbatches(), 8);
}

}  // namespace layout_test
}  // namespace mpitron::plan
