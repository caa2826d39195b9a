#pragma once
#include <functional>
#include <optional>

#include "parallel/data_parallel.h"
#include "pipeline/executor.h"
#include "train/step/microbatch_queue.h"
#include "train/step/microbatch_states.h"
#include "train/timing/layer_trace.h"

namespace mpitron::train {

/// Gets the logits, [s, b, v], of a microbatch.
using VisitLogits =
    std::function<void(const tensor::Tensor& logits, const DeviceMicrobatch& microbatch)>;

/// Gets what the model says of a microbatch: one for each of `Model::objective_traits`.
using VisitObjectives = std::function<void(std::span<const models::Objective> objectives,
                                           const DeviceMicrobatch& microbatch)>;

/// One pass over a (global) batch.
struct BatchPass {
  Index iteration = 0;
  Index num_microbatches = 1;
  /// The gradient of a microbatch's mean loss (of a token's loss with per-token loss); absent:
  /// evaluation.
  std::optional<double> seed_scale = std::nullopt;
  /// Gets the logits of each microbatch instead of its loss, in an evaluation. Called on the ranks
  /// with the output layer.
  VisitLogits on_logits = {};
  VisitObjectives on_objectives = {};  // likewise, in place of their sums
  /// Says whether routers (and dropout) behave as in training, in an evaluation.
  autograd::Mode mode = autograd::Mode::evaluate;
  std::optional<Index> micro_batch_size = std::nullopt;  // where it is not that of the options
};

/// The forward and backward passes of this rank's chunks, each over one microbatch, which a
/// schedule calls for.
class StagePasses {
 public:
  struct Options {
    bool per_token_loss = false;
    std::uint64_t seed = 0;
    /// Microbatches whose additions to the output layer's weight wait for the end of the pass (0:
    /// all), beyond which the oldest is made; absent: none waits.
    std::optional<std::size_t> deferred_outputs = std::nullopt;
    bool cut_passes = false;     // wherever tokens travel; what the schedule joins runs in between
    bool delay_weights = false;  // weight gradients of a part are made when its tokens travel
    Index offloaded_layers = 0;  // of a chunk: activations wait in the host's memory
  };
  StagePasses(device::Device& device, TrainedModel& model, parallel::DataParallel& replicas,
              const Options& options, Timers& timers);

  /// Begins a pass over the queue's microbatches.
  void begin(const BatchPass& pass);
  MicrobatchQueue& microbatches() { return microbatches_; }
  pipeline::StepCallbacks callbacks();
  /// Makes what was left for the end; what all microbatches have added up.
  StepGraph::Sums finish();

 private:
  /// A backward pass under way.
  struct BackwardPass {
    Index chunk, index;
    bool with_weights;
    MicrobatchState& state;
    autograd::Context context;
  };
  /// Does another microbatch's work where the tokens of a forward pass travel.
  class ForwardGaps;

  autograd::Context context(const autograd::SamplePosition& position, autograd::Tape* tape) const;
  tensor::Tensor forward(Index chunk, Index index, tensor::Tensor input,
                         BackwardPass* overlapped_work = nullptr);
  /// Runs a chunk on its input: the result is what the next one takes, or losses, or logits.
  std::vector<PassOutput> run_chunk(autograd::Context& context, Index chunk,
                                    const DeviceMicrobatch& microbatch, const autograd::Var& x,
                                    tensor::Tensor& to_send);
  tensor::Tensor backward(Index chunk, Index index, tensor::Tensor gradient, bool with_weights);
  std::pair<tensor::Tensor, tensor::Tensor> forward_and_backward(
      pipeline::StepCallbacks::Pass forward, pipeline::StepCallbacks::Pass backward);
  void backward_weight(Index chunk, Index index);
  BackwardPass start_backward(Index chunk, Index index, tensor::Tensor gradient, bool with_weights);
  /// Plays the next part of it, if there is one.
  void continue_backward(BackwardPass& pass);
  /// The gradient of its input.
  tensor::Tensor finish_backward(BackwardPass& pass);
  /// Returns what takes the additions that this backward pass leaves; null: it leaves none.
  autograd::DeferredGradients* deferred(Index chunk, MicrobatchState& state, bool with_weights);
  autograd::AuxiliaryLosses auxiliary_losses(const DeviceMicrobatch& microbatch);

  device::Device& device_;
  TrainedModel& model_;
  parallel::DataParallel& replicas_;
  Options options_;
  Timers& timers_;
  mutable LayerTrace layers_;
  autograd::DeferredGradients output_weight_;
  MicrobatchQueue microbatches_;
  MicrobatchStates states_;
  ObjectiveSums objectives_;
  autograd::LayerSums layer_sums_;
  BatchPass pass_;
};

/// How a trace tells the passes of microbatches apart.
TraceSpan pass_span(Index chunk, Index microbatch);

}  // namespace mpitron::train
