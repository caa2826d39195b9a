#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "train/batches/made_up_corpus.h"
#include "train/step/train_step.h"
#include "train/timing/timers.h"
#include "train/tuning/kernel_tuning.h"

// Models of which benchmarks time whole training steps.

namespace mpitron::benchmarks {

using Flags = std::vector<std::string>;

/// A model size.
struct Model {
  config::ModelKind kind;
  Index layers, hidden, heads, sequence, vocabulary;
  Index experts = 0;           // in every layer, of which a token visits two
  Index decoder_sequence = 0;  // T5: its decoder has as many layers again
  Index gated_width = 0;       // Llama: width of the SwiGLU layer; 0: GPT-2's GELU of four h
  Index state = 0;             // Mamba-2: numbers of a state for each of 2 h channels, one group
};

/// Multiply-adds of a token in the scan of Mamba-2, in chunks of 128, of which a causal half is
/// needed within a chunk: `channels` channels with states of `state` numbers, one group.
double scan_multiply_adds(Index channels, Index state);

/// Needed FLOPs of a sample, forward and backward: two for each weight and token and for each pair
/// of tokens that attention looks at, threefold.
double flops_per_sample(const Model& model);

/// A model with its optimizer and one microbatch, ready to step.
class TimedTraining {
 public:
  /// `more`: flags beside those of the size.
  TimedTraining(device::Device& device, const Model& size, Index micro_batch, DType dtype,
                const Flags& more = {});

  /// Seconds of one step.
  double step();

 private:
  config::RunConfig config_;
  std::unique_ptr<comm::World> world_;
  train::TrainedModel model_;
  train::Timers timers_{0, config::TimingLogOption::max};
  train::KernelTuning tuning_;
  train::TrainStep step_;
  train::MadeUpCorpus corpus_;
  Index samples_, iteration_ = 0;
};

/// The command line of that training without `more`, and what it means with them.
Flags flags_of(const Model& model, Index micro_batch, DType dtype);
config::RunConfig timed_configuration(const Model& model, Index micro_batch, DType dtype,
                                      const Flags& more);

}  // namespace mpitron::benchmarks
