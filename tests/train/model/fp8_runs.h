#pragma once
#include <cstring>

#include "train/checkpoint_run.h"

// Short runs with products in 8 bits, by every recipe.

namespace mpitron::train {

inline const Flags kHybrid = {"--bf16", "--fp8-format", "hybrid"};
inline const Flags kHistories =
    kHybrid + Flags{"--fp8-amax-history-len", "3", "--fp8-amax-compute-algo", "max"};
inline const Flags kTensorwise = kHybrid + Flags{"--fp8-recipe", "tensorwise"};
inline const Flags kBlockwise = kHybrid + Flags{"--fp8-recipe", "blockwise"};

/// Losses of a run of `steps` steps on one rank.
inline std::vector<double> losses(device::Device& device, const Flags& flags, Index steps) {
  TinyTraining training(device, tiny_run(flags));
  TinyCorpus corpus;
  std::vector<double> result;
  for (Index iteration = 1; iteration <= steps; ++iteration) {
    result.push_back(training.step.run(iteration, 4, 8, corpus.from(8 * iteration, 2)).loss());
  }
  return result;
}

/// Histories by name.
using Histories = std::map<std::string, std::vector<float>>;

/// Those that one step with `kHistories` leaves on each rank.
inline std::vector<Histories> histories(const Flags& layout, Index ranks) {
  std::vector<Histories> result;
  for (const auto& state : run_with_checkpoints(kHistories + layout, ranks, 1).state) {
    Histories& own = result.emplace_back();
    for (const auto& [name, bytes] : state) {
      if (name.ends_with(".fp8_amax_history")) {
        std::vector<float>& values = own[name];
        values.resize(bytes.size() / sizeof(float));
        std::memcpy(values.data(), bytes.data(), bytes.size());
      }
    }
  }
  return result;
}

}  // namespace mpitron::train
