#include <gtest/gtest.h>

#include "plan/machine/library.h"
#include "plan/planned_run.h"
#include "plan/search/search.h"

namespace mpitron::plan {
namespace layout_walk_test {

SearchSpace space(Index gpus) {
  return {.job = make_job(test::planned_run({.layers = 96, .hidden = 12288, .heads = 96}, 4096,
                                            1152, {.gpus = gpus}))};
}

TEST(LayoutWalk, LayoutsUseAllGpusAndDivideTheBatch) {
  const std::vector<Layout> layouts = layouts_of(*Library().machine("h100-dgx"), space(96));
  EXPECT_GT(layouts.size(), 100U);
  for (const Layout& l : layouts) {
    EXPECT_EQ(l.tensor * l.pipeline * l.context * l.data(), 96);
    EXPECT_EQ(1152 % (l.micro_batch * l.data()), 0);
    EXPECT_TRUE(l.chunks == 1 || 1152 / (l.micro_batch * l.data()) % l.pipeline == 0);
  }
}

TEST(LayoutWalk, FixedSizesAreKept) {
  SearchSpace fixed = space(96);
  fixed.fixed = {{"tp", 4}, {"pp", 12}};
  for (const Layout& layout : layouts_of(*Library().machine("h100-dgx"), fixed)) {
    EXPECT_EQ(layout.tensor, 4);
    EXPECT_EQ(layout.pipeline, 12);
  }
}

}  // namespace layout_walk_test
}  // namespace mpitron::plan
