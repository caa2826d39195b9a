#include <cstdlib>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "train/layout_space.h"

// Whatever `mpitron check` calls legal trains as one rank does. A sample of all layouts of up to
// eight ranks; its seed is printed. MPITRON_LAYOUTS=all takes all of them (or how many, or 2/4: the
// second of four parts), MPITRON_LAYOUT_SEED another sample, MPITRON_LAYOUT_MODELS the models of
// which a flag is this word.

namespace mpitron::train {
namespace every_layout_test {

constexpr Index kMostRanks = 8;
constexpr std::size_t kSample = 16;

/// Kinds of models whose layouts differ: what is tied, cut, shared, computed again.
std::vector<Flags> models() {
  // SGD: the first steps of Adam are the gradients' signs.
  const Flags common = {"--num-layers",        "4",   "--hidden-dropout",   "0.1",
                        "--attention-dropout", "0.1", "--ffn-hidden-size",  "32",
                        "--optimizer",         "sgd", "--micro-batch-size", "1"};
  const Flags groups{"--group-query-attention", "--num-query-groups"};
  const Flags llama{"--swiglu",
                    "--position-embedding-type",
                    "rope",
                    "--normalization",
                    "RMSNorm",
                    "--disable-bias-linear",
                    "--untie-embeddings-and-output-weights"};
  const Flags experts{"--disable-bias-linear", "--num-experts", "4"};
  const Flags latent{"--multi-latent-attention",
                     "--qk-layernorm",
                     "--q-lora-rank",
                     "6",
                     "--kv-lora-rank",
                     "5",
                     "--qk-head-dim",
                     "3",
                     "--qk-pos-emb-head-dim",
                     "2",
                     "--v-head-dim",
                     "7",
                     "--recompute-granularity",
                     "selective",
                     "--recompute-modules",
                     "mla_up_proj"};
  const Flags predictions{"--mtp-num-layers", "2"};
  const Flags rotary{"--position-embedding-type", "rope"};
  const Flags letters{"--model", "mamba", "--mamba-head-dim", "4", "--mamba-state-dim", "3"};
  const Flags two_groups{"--mamba-num-groups", "2"};
  // Norms of heads of two or three numbers magnify roundings.
  const Flags delta{"--linear-num-key-heads",   "4", "--linear-num-value-heads", "8",
                    "--linear-key-head-dim",    "6", "--linear-value-head-dim",  "4",
                    "--linear-conv-kernel-dim", "2", "--mamba-num-groups",       "4"};
  const Flags all_again{"--recompute-granularity", "full", "--recompute-method", "uniform",
                        "--recompute-num-layers",  "1"};
  return {common,
          common + Flags{"--untie-embeddings-and-output-weights"},
          common + llama + groups + Flags{"2"},
          common + groups + Flags{"1"} + all_again,
          common + llama + Flags{"--recompute-granularity", "selective"},
          common + Flags{"--tp-comm-overlap", "--calculate-per-token-loss"},
          common + experts + Flags{"--moe-aux-loss-coeff", "0.1"},
          common + experts +
              Flags{"--moe-layer-freq", "2", "--swiglu", "--moe-router-score-function", "sigmoid",
                    "--moe-router-enable-expert-bias"},
          common + llama + latent,
          common + llama + predictions,
          common + rotary + predictions + Flags{"--calculate-per-token-loss"},
          common + letters + two_groups + Flags{"--hybrid-layer-pattern", "M*-M"},
          common + letters + delta + Flags{"--swiglu", "--disable-bias-linear"} +
              Flags{"--hybrid-layer-pattern", "G*GM"},
          common + letters + two_groups + experts + Flags{"--moe-aux-loss-coeff", "0.1"} +
              Flags{"--hybrid-layer-pattern", "MEM*/M*/M*"},
          common + Flags{"--model", "bert"},
          common + all_again +
              Flags{"--model", "t5", "--num-layers", "2", "--decoder-seq-length", "4"}};
}

std::string setting(const char* name, const char* otherwise) {
  const char* given = std::getenv(name);
  return given != nullptr ? given : otherwise;
}

/// Up to `most` layouts, in which the kinds of models take turns.
std::vector<GeneratedLayout> drawn(std::size_t most, unsigned seed) {
  const std::string word = setting("MPITRON_LAYOUT_MODELS", "");
  std::vector<LayoutDraw> draws;
  for (const Flags& model : models()) {
    if (word.empty() || std::ranges::find(model, word) != model.end()) {
      draws.emplace_back(model, kMostRanks, seed++);
    }
  }
  std::vector<GeneratedLayout> layouts;
  bool more = true;
  while (std::exchange(more, false)) {
    for (LayoutDraw& draw : draws) {
      if (auto layout = layouts.size() < most ? draw.next() : std::nullopt) {
        layouts.push_back(std::move(*layout));
        more = true;
      }
    }
  }
  return layouts;
}

std::vector<GeneratedLayout> sample(unsigned seed) {
  const std::string words = setting("MPITRON_LAYOUTS", std::to_string(kSample).c_str());
  const std::size_t slash = words.find('/');
  if (slash == std::string::npos) {
    return drawn(words == "all" ? SIZE_MAX : std::stoul(words), seed);
  }
  const std::size_t parts = std::stoul(words.substr(slash + 1));
  std::vector<GeneratedLayout> own, all = drawn(SIZE_MAX, seed);
  for (std::size_t i = std::stoul(words) - 1; i < all.size(); i += parts) {
    own.push_back(std::move(all[i]));
  }
  return own;
}

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
  const Flags untied_experts = models()[1] + Flags{"--disable-bias-linear", "--num-experts", "4"};
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

TEST(EveryLayout, TrainsAsOneRankDoes) {
  const auto seed = static_cast<unsigned>(std::stoul(setting("MPITRON_LAYOUT_SEED", "1")));
  const std::vector<GeneratedLayout> layouts = sample(seed);
  std::printf("%zu layouts, MPITRON_LAYOUT_SEED=%u\n", layouts.size(), seed);
  std::map<Flags, LayoutOutcome> alone;
  std::map<Flags, Worst> worst;
  for (const GeneratedLayout& layout : layouts) {
    SCOPED_TRACE(::testing::PrintToString(layout));
    if (!alone.contains(layout.model)) {
      alone[layout.model] = run_layout(layout.model, 1);
    }
    try {
      const LayoutOutcome outcome = run_layout(layout.model + layout.layout, layout.ranks);
      expect_equal(outcome, alone.at(layout.model));
      worst[layout.model].add(outcome, alone.at(layout.model));
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

}  // namespace every_layout_test
}  // namespace mpitron::train
