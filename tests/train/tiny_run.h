#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "config/parse/parse.h"
#include "support/host_runtime.h"
#include "support/tensors.h"
#include "train/step/train_step.h"
#include "train/timing/timers.h"

namespace mpitron::train {

/// The flags of a run that takes milliseconds a step.
inline std::vector<std::string> tiny_flags() {
  return {"--num-layers",
          "2",
          "--hidden-size",
          "16",
          "--num-attention-heads",
          "4",
          "--seq-length",
          "8",
          "--max-position-embeddings",
          "8",
          "--transformer-impl",
          "local",
          "--tokenizer-type",
          "NullTokenizer",
          "--vocab-size",
          "23",
          "--make-vocab-size-divisible-by",
          "1",
          "--mock-data",
          "--micro-batch-size",
          "2",
          "--global-batch-size",
          "8",
          "--train-iters",
          "40",
          "--lr",
          "0.01",
          "--lr-decay-style",
          "constant",
          "--init-method-std",
          "0.1"};
}

/// Those flags with others behind them; --mock-data makes no texts with images.
inline std::vector<std::string> tiny_flags(const std::vector<std::string>& extra) {
  std::vector<std::string> flags = tiny_flags();
  if (std::ranges::find(extra, "vlm") != extra.end()) {
    std::erase(flags, "--mock-data");
    flags.insert(flags.end(), {"--data-path", "made-up"});
  }
  flags.insert(flags.end(), extra.begin(), extra.end());
  return flags;
}

/// That run with `extra` behind its flags.
inline config::RunConfig tiny_run(const std::vector<std::string>& extra = {},
                                  Index world_size = 1) {
  config::RunConfig config = config::parse_run_config(tiny_flags(extra), world_size);
  config.model.padded_vocab_size = 24;
  return config;
}

/// An endless corpus: the next word follows from the last two, so there is something to learn.
class TinyCorpus {
 public:
  /// `uneven`: sample n counts only its first 1 + n % 8 tokens.
  explicit TinyCorpus(bool uneven = false) : uneven_(uneven) {}

  /// Samples [first, first + count); valid until the next call.
  HostMicrobatch rows(Index first, Index count) {
    tokens_.clear(), labels_.clear(), positions_.clear(), mask_.clear();
    for (Index sample = first; sample < first + count; ++sample) {
      for (Index i = 0; i < kLength; ++i) {
        tokens_.push_back(word(sample, i));
        labels_.push_back(word(sample, i + 1));
        positions_.push_back(i);
        mask_.push_back(!uneven_ || i <= sample % kLength ? 1.f : 0.f);
      }
    }
    return {.samples = count,
            .sequence_length = kLength,
            .first_sample = first,
            .columns = {{models::kTokens, tokens_},
                        {models::kLabels, labels_},
                        {models::kPositionIds, positions_},
                        {models::kLossMask, mask_}}};
  }
  /// Microbatches of `count` samples from `first` on.
  NextMicrobatch from(Index first, Index count) {
    return
        [this, first, count]() mutable { return rows(std::exchange(first, first + count), count); };
  }

 private:
  static constexpr Index kLength = 8;
  static std::int64_t word(Index sample, Index i) { return (sample + 3 * i) % 23; }

  bool uneven_;
  std::vector<std::int64_t> tokens_, labels_, positions_;
  std::vector<float> mask_;
};

/// A model with its training step.
struct TinyTraining {
  TinyTraining(device::Device& device, const config::RunConfig& config)
      : world(comm::make_single_world()),
        model(device, config, *world),
        step(device, model, config, timers) {}

  std::vector<double> weights() {
    std::vector<double> all;
    for (const autograd::Parameter& parameter : model.parameters()) {
      const std::vector<double> values = test::values_of(parameter.value);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
  std::vector<double> gradients() {
    std::vector<double> all;
    for (const autograd::Parameter& parameter : model.parameters()) {
      const std::vector<double> values = test::values_of(parameter.sink.main_grad);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

  std::unique_ptr<comm::World> world;
  TrainedModel model;
  Timers timers{0, config::TimingLogOption::max};
  TrainStep step;
};

}  // namespace mpitron::train
