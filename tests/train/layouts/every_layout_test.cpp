#include <map>
#include <set>

#include <gtest/gtest.h>

#include "train/layout_sample.h"

// Whatever `mpitron check` calls legal trains as one rank does. The sample's seed is printed.

namespace mpitron::train {
namespace every_layout_test {

constexpr Index kSample = 24;

TEST(EveryLayout, TheGeneratorFindsWhatThereIs) {
  std::set<Index> ranks;
  std::set<std::pair<Index, Flags>> distinct;
  std::set<std::string> words;
  std::set<Flags> kinds;
  for (const GeneratedLayout& layout : all_layouts()) {
    kinds.insert(layout.model);
    ranks.insert(layout.ranks);
    distinct.emplace(layout.ranks, layout.model + layout.layout);
    words.insert(layout.layout.begin(), layout.layout.end());
  }
  EXPECT_EQ(ranks, (std::set<Index>{1, 2, 4, 8}));
  EXPECT_EQ(distinct.size(), all_layouts().size());
  EXPECT_EQ(kinds.size(), kinds_of_models().size());
  EXPECT_GT(distinct.size(), 1000u);
  for (const char* word :
       {"--sequence-parallel", "zero-bubble", "optim_grads_params", "a2a+p2p",
        "--num-virtual-stages-per-pipeline-rank", "--defer-embedding-wgrad-compute",
        "--num-distributed-optimizer-instances", "--overlap-param-gather", "alltoall"}) {
    EXPECT_TRUE(words.contains(word)) << word;
  }
}

TEST(EveryLayout, TrainsAsOneRankDoes) {
  const unsigned chosen = layout_seed();
  const std::vector<GeneratedLayout> layouts = sample_layouts(chosen, kSample);
  std::printf("%zu of %zu layouts, MPITRON_LAYOUT_SEED=%u\n", layouts.size(), all_layouts().size(),
              chosen);
  std::map<Flags, LayoutOutcome> alone;
  for (const GeneratedLayout& layout : layouts) {
    SCOPED_TRACE(::testing::PrintToString(layout));
    if (!alone.contains(layout.model)) {
      alone[layout.model] = run_layout(layout.model, 1);
    }
    try {
      expect_equal(run_layout(layout.model + layout.layout, layout.ranks), alone.at(layout.model));
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

}  // namespace every_layout_test
}  // namespace mpitron::train
