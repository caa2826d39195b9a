#pragma once
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <string_view>

#include "train/layout_space.h"

// A sample of all layouts of up to eight ranks, of kinds of models whose layouts differ.
// MPITRON_LAYOUTS=all takes all of them (or how many, or 2/4: the second of four parts),
// MPITRON_LAYOUT_SEED another sample.

namespace mpitron::train {

/// Kinds of models whose layouts differ: what is tied, cut, shared, computed again.
inline std::vector<Flags> kinds_of_models() {
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

inline const std::vector<GeneratedLayout>& all_layouts() {
  constexpr Index kMostRanks = 8;
  static const std::vector<GeneratedLayout> layouts = [] {
    std::vector<GeneratedLayout> all;
    for (const Flags& model : kinds_of_models()) {
      for (GeneratedLayout& layout : LayoutSpace(model, kMostRanks).legal()) {
        all.push_back(std::move(layout));
      }
    }
    return all;
  }();
  return layouts;
}

inline unsigned layout_seed() {
  const char* given = std::getenv("MPITRON_LAYOUT_SEED");
  return given != nullptr ? static_cast<unsigned>(std::atol(given)) : 1;
}

/// In a random order, in which the kinds of models take turns.
inline std::vector<GeneratedLayout> shuffled(std::vector<GeneratedLayout> layouts, unsigned seed) {
  std::shuffle(layouts.begin(), layouts.end(), std::mt19937(seed));
  std::map<Flags, Index> turns;
  std::multimap<Index, GeneratedLayout> by_turn;
  for (GeneratedLayout& layout : layouts) {
    const Index turn = turns[layout.model]++;
    by_turn.emplace(turn, std::move(layout));
  }
  layouts.clear();
  for (auto& [turn, layout] : by_turn) {
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

/// `usual` of them, where the environment does not say how many.
inline std::vector<GeneratedLayout> sample_layouts(unsigned seed, Index usual) {
  const char* given = std::getenv("MPITRON_LAYOUTS");
  std::vector<GeneratedLayout> layouts = shuffled(all_layouts(), seed);
  const std::string_view words = given != nullptr ? given : "";
  if (const std::size_t slash = words.find('/'); slash != std::string_view::npos) {
    const std::size_t parts = std::max(std::atol(given + slash + 1), 1L);
    std::vector<GeneratedLayout> own;
    for (std::size_t i = std::max(std::atol(given), 1L) - 1; i < layouts.size(); i += parts) {
      own.push_back(std::move(layouts[i]));
    }
    return own;
  }
  if (words != "all") {
    const Index wanted = given != nullptr ? std::atol(given) : usual;
    layouts.resize(std::min(layouts.size(), static_cast<std::size_t>(wanted)));
  }
  return layouts;
}

}  // namespace mpitron::train
