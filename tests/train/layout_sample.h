#pragma once
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "config/values/option_table.h"
#include "train/layout_space.h"

// A sample of all layouts of up to eight ranks, of kinds of models whose layouts differ.
// MPITRON_LAYOUTS=all takes all of them (or how many, or 2/4: the second of four parts),
// MPITRON_LAYOUT_SEED another sample, MPITRON_LAYOUT_MODELS the models of which a flag is this
// word.

namespace mpitron::train {

/// Four layers with dropout, and steps by gradients alone: the first ones of Adam are their signs.
inline Flags layers_and_steps() {
  return {"--num-layers",      "4",  "--hidden-dropout", "0.1", "--attention-dropout", "0.1",
          "--ffn-hidden-size", "32", "--optimizer",      "sgd", "--micro-batch-size",  "1"};
}

/// Kinds of models whose layouts differ: what is tied, cut, shared, computed again.
inline std::vector<Flags> kinds_of_models() {
  const Flags common = layers_and_steps();
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

/// Kinds of models of images: classes, holes, crops with a teacher, and images in text behind
/// either encoder.
inline std::vector<Flags> kinds_of_vision_models() {
  const auto words = [](const char* flags) { return config::split_words(flags); };
  const Flags vit = layers_and_steps() + words("--model vit --patch-dim 2");
  const Flags row = words("--img-h 2 --img-w 10 --class-token-length 3");
  const Flags square = words("--img-h 8 --img-w 8 --seq-length 16 --max-position-embeddings 16");
  const Flags vlm = layers_and_steps() +
                    words(
                        "--model vlm --encoder-num-layers 2 --patch-dim 2 --img-h 4 --img-w 4 "
                        "--seq-length 32 --max-position-embeddings 32 "
                        "--dataloader-seq-length 22");
  // The head is wide: rows close to zero would be brought to unit length, with their roundings.
  return {vit + row + words("--num-classes 5"),
          vit + square + words("--vision-pretraining-type inpaint"),
          vit + row +
              words("--vision-pretraining-type dino --dino-local-img-size 2 "
                    "--dino-local-crops-number 3 --dino-head-hidden-size 512 "
                    "--dino-bottleneck-size 64 --dino-out-dim 12 --iter-per-epoch 1 "
                    "--dino-freeze-last-layer 1"),
          vlm,
          vlm + words("--vision-model-type siglip --vision-hidden-size 24 "
                      "--vision-num-attention-heads 4 --position-embedding-type rope "
                      "--recompute-vision --packing-buffer-size 2")};
}

/// The flags that a layout is compared with on one rank: DINO's centre moves with each microbatch
/// of all replicas.
inline Flags on_one_rank(const GeneratedLayout& layout) {
  if (std::ranges::find(layout.model, "dino") == layout.model.end()) {
    return layout.model;
  }
  const Index replicas =
      tiny_run(layout.model + layout.layout, layout.ranks).parallel.data_parallel_size;
  return layout.model + Flags{"--micro-batch-size", std::to_string(replicas)};
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

/// `usual` of those of some models, where the environment does not say how many.
inline std::vector<GeneratedLayout> sample_layouts(std::vector<Flags> models, unsigned seed,
                                                   std::size_t usual) {
  const std::string words = layout_setting("MPITRON_LAYOUTS", std::to_string(usual));
  const std::string flag = layout_setting("MPITRON_LAYOUT_MODELS", "");
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
