#pragma once
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "train/layout_space.h"

// A sample of all layouts of up to eight ranks, of kinds of models whose layouts differ.
// MPITRON_LAYOUTS=all takes all of them (or how many, or 2/4: the second of four parts),
// MPITRON_LAYOUT_SEED another sample, MPITRON_LAYOUT_MODELS the models of which a flag is this
// word.

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

inline std::string layout_setting(const char* name, const std::string& otherwise) {
  const char* given = std::getenv(name);
  return given != nullptr ? given : otherwise;
}

inline unsigned layout_seed() {
  return static_cast<unsigned>(std::stoul(layout_setting("MPITRON_LAYOUT_SEED", "1")));
}

/// Up to `most` layouts of these models in a random order, in which the models take turns.
inline std::vector<GeneratedLayout> drawn_layouts(const std::vector<Flags>& models, unsigned seed,
                                                  std::size_t most) {
  constexpr Index kMostRanks = 8;
  std::vector<LayoutDraw> draws;
  for (const Flags& model : models) {
    draws.emplace_back(model, kMostRanks, seed++);
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

/// `usual` of them, where the environment does not say how many.
inline std::vector<GeneratedLayout> sample_layouts(unsigned seed, std::size_t usual) {
  const std::string words = layout_setting("MPITRON_LAYOUTS", std::to_string(usual));
  const std::string flag = layout_setting("MPITRON_LAYOUT_MODELS", "");
  std::vector<Flags> models = kinds_of_models();
  std::erase_if(models, [&](const Flags& model) {
    return !flag.empty() && std::ranges::find(model, flag) == model.end();
  });
  const std::size_t slash = words.find('/');
  if (slash == std::string::npos) {
    return drawn_layouts(models, seed, words == "all" ? SIZE_MAX : std::stoul(words));
  }
  const std::size_t parts = std::stoul(words.substr(slash + 1));
  std::vector<GeneratedLayout> own, all = drawn_layouts(models, seed, SIZE_MAX);
  for (std::size_t i = std::stoul(words) - 1; i < all.size(); i += parts) {
    own.push_back(std::move(all[i]));
  }
  return own;
}

}  // namespace mpitron::train
