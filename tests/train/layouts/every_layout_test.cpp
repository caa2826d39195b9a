#include <map>
#include <set>

#include <gtest/gtest.h>

#include "train/layout_sample.h"

// Whatever `mpitron check` calls legal trains as one rank does. The sample's seed is printed.

namespace mpitron::train {
namespace every_layout_test {

constexpr std::size_t kSample = 10;

/// The largest differences of a kind of model.
struct Worst {
  std::size_t layouts = 0;
  double loss = 0, grad_norm = 0, weights = 0;

  void add(const LayoutOutcome& layout, const LayoutOutcome& alone) {
    const auto raise = [](double& worst, double value, double expected) {
      worst = std::max(worst, std::abs(value - expected) / expected);
    };
    ++layouts;
    for (std::size_t i = 0; i < std::min(layout.losses.size(), alone.losses.size()); ++i) {
      raise(loss, layout.losses[i], alone.losses[i]);
    }
    for (std::size_t i = 0; i < std::min(layout.grad_norms.size(), alone.grad_norms.size()); ++i) {
      raise(grad_norm, layout.grad_norms[i], alone.grad_norms[i]);
    }
    for (const auto& [name, values] : alone.weights) {
      weights = std::max(weights, relative_distance(layout.weights.at(name), values));
    }
  }
};

/// With four ranks, as one model's layouts on eight take a minute where nothing is optimised.
TEST(EveryLayout, TheGeneratorFindsWhatThereIs) {
  const Flags untied_experts =
      kinds_of_models()[1] + Flags{"--disable-bias-linear", "--num-experts", "4"};
  LayoutDraw draw(untied_experts, 4, 1);
  std::set<std::pair<Index, Flags>> distinct;
  std::set<std::string> words;
  std::map<Index, std::size_t> found;  // by ranks
  while (const auto layout = draw.next()) {
    distinct.emplace(layout->ranks, layout->layout);
    words.insert(layout->layout.begin(), layout->layout.end());
    ++found[layout->ranks];
  }
  EXPECT_EQ(found[1], 1u);
  EXPECT_GT(found[2], 80u);
  EXPECT_GT(found[4], 500u);
  EXPECT_EQ(distinct.size(), found[1] + found[2] + found[4]);
  for (const char* word :
       {"--sequence-parallel", "zero-bubble", "optim_grads_params", "a2a+p2p",
        "--num-virtual-stages-per-pipeline-rank", "--defer-embedding-wgrad-compute",
        "--num-distributed-optimizer-instances", "--overlap-param-gather", "alltoall"}) {
    EXPECT_TRUE(words.contains(word)) << word;
  }
}

void expect_as_on_one_rank(const std::vector<Flags>& models, std::size_t usual) {
  const unsigned seed = layout_seed();
  const std::vector<GeneratedLayout> layouts = sample_layouts(models, seed, usual);
  std::printf("%zu layouts, MPITRON_LAYOUT_SEED=%u\n", layouts.size(), seed);
  std::map<Flags, LayoutOutcome> alone;
  std::map<Flags, Worst> worst;
  for (const GeneratedLayout& layout : layouts) {
    SCOPED_TRACE(::testing::PrintToString(layout));
    try {
      const Flags one = on_one_rank(layout);
      if (!alone.contains(one)) {
        alone[one] = run_layout(one, 1);
      }
      const LayoutOutcome outcome = run_layout(layout.model + layout.layout, layout.ranks);
      expect_equal(outcome, alone.at(one));
      worst[layout.model].add(outcome, alone.at(one));
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  for (const auto& [model, far] : worst) {
    fmt::print(
        "{:5} layouts, apart by {:.1e} (losses) {:.1e} (gradient norms) {:.1e} (weights): {}\n",
        far.layouts, far.loss, far.grad_norm, far.weights, fmt::join(model, " "));
  }
}

TEST(EveryLayout, TrainsAsOneRankDoes) {
  expect_as_on_one_rank(kinds_of_models(), kSample);
}

TEST(EveryLayout, OfImagesToo) {
  const std::vector<Flags> models = kinds_of_vision_models();
  expect_as_on_one_rank(models, 2 * models.size());
}

}  // namespace every_layout_test
}  // namespace mpitron::train
