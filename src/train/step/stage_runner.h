#pragma once
#include <functional>
#include <optional>

#include "autograd/activation_offload.h"
#include "autograd/deferred_gradients.h"
#include "autograd/segmented_tape.h"
#include "parallel/data_parallel.h"
#include "pipeline/executor.h"
#include "train/batches/microbatch.h"
#include "train/model/trained_model.h"
#include "train/step/step_graph.h"
#include "train/timing/layer_trace.h"
#include "train/timing/timers.h"

namespace mpitron::train {

/// Where the step's microbatches come from: called once for each, in order.
using NextMicrobatch = std::function<HostMicrobatch()>;

/// An objective's masked losses and its mask, summed over tokens; and the means of microbatches (0
/// without a token), summed over these.
struct LossSums {
  double loss = 0;
  double tokens = 0;
  double means = 0;
  double microbatches = 0;
};

/// Runs the forward and backward passes of this rank's chunks over the microbatches of one step, in
/// the order of a pipeline schedule.
class StageRunner {
 public:
  struct Options {
    pipeline::HiddenState hidden;  // what travels between stages
    bool per_token_loss = false;
    std::uint64_t seed = 0;
    pipeline::ScheduleOptions schedule;  // microbatches and forward_only are set for each run
    /// Microbatches whose additions to the output layer's weight wait for the end of the pass (0:
    /// all), beyond which the oldest is made; absent: none waits.
    std::optional<std::size_t> deferred_outputs = std::nullopt;
    bool cut_passes = false;     // wherever tokens travel; what the schedule joins runs in between
    bool delay_weights = false;  // weight gradients of a part are made when its tokens travel
    /// Steps before one is recorded as a graph and replayed; absent: none is.
    std::optional<Index> graph_warmup_steps = std::nullopt;
    Index offloaded_layers = 0;  // of a chunk: activations wait in the host's memory
  };
  /// One pass over a (global) batch.
  struct Pass {
    Index iteration = 0;
    Index num_microbatches = 1;
    /// The gradient of a microbatch's mean loss (of a token's loss with per-token loss); absent:
    /// evaluation.
    std::optional<double> seed_scale = std::nullopt;
    /// In an evaluation: gets the logits, [s, b, v], of each microbatch instead of its loss. Called
    /// on the ranks with the output layer.
    std::function<void(const tensor::Tensor& logits, const DeviceMicrobatch& microbatch)>
        on_logits = {};
    /// In an evaluation: whether routers (and dropout) behave as in training.
    autograd::Mode mode = autograd::Mode::evaluate;
    std::optional<Index> micro_batch_size = std::nullopt;  // where it is not that of the options
  };

  StageRunner(device::Device& device, TrainedModel& model, parallel::DataParallel& replicas,
              const Options& options, Timers& timers);

  /// The sums of this rank's microbatches, of each objective; zero on ranks without the output
  /// layer.
  std::vector<LossSums> run(const Pass& pass, const NextMicrobatch& next);
  /// Forgets what was recorded.
  void kernels_changed();
  /// What the layers told of their own losses in the last training pass; of this rank.
  const autograd::LayerSums& layer_sums() const { return layer_sums_; }

 private:
  /// What a (chunk, microbatch) keeps between its passes.
  struct MicrobatchState {
    /// What the chunk computes, and its gradient where that is known: that of losses.
    struct Output {
      autograd::Slot slot;
      tensor::Tensor gradient;
    };
    autograd::SegmentedTape tape;
    autograd::DeferredGradients weights;  // what `backward_weight` adds, or what is delayed
    std::optional<autograd::ActivationOffload> offload = std::nullopt;
    autograd::Slot input;
    std::vector<Output> outputs;
    autograd::SamplePosition position;
    autograd::AuxiliaryLosses auxiliary;
  };

  /// A backward pass under way.
  struct BackwardPass {
    Index chunk, index;
    bool with_weights;
    MicrobatchState& state;
    autograd::Context context;
  };
  /// What a forward pass does where its tokens travel.
  class ForwardGaps;

  const pipeline::ActionList& actions(const Pass& pass);
  /// Queues all passes, and returns each objective's sums of tokens.
  StepGraph::TokenSums play(const pipeline::HiddenState& hidden);
  /// The same from a graph, once it is recorded; with what layers told.
  StepGraph::TokenSums replay(const pipeline::HiddenState& hidden);
  /// Microbatch `index`, which chunks ask for in order.
  const DeviceMicrobatch& microbatch(Index index);
  /// Lets go of the microbatches that every chunk has taken.
  void release_microbatches();
  autograd::Context context(const autograd::SamplePosition& position, autograd::Tape* tape) const;
  tensor::Tensor forward(Index chunk, Index index, tensor::Tensor input,
                         BackwardPass* overlapped_work = nullptr);
  tensor::Tensor backward(Index chunk, Index index, tensor::Tensor gradient, bool with_weights);
  std::pair<tensor::Tensor, tensor::Tensor> forward_and_backward(
      pipeline::StepCallbacks::Pass forward, pipeline::StepCallbacks::Pass backward);
  void backward_weight(Index chunk, Index index);
  BackwardPass start_backward(Index chunk, Index index, tensor::Tensor gradient, bool with_weights);
  /// Plays the next part of it, if there is one.
  void continue_backward(BackwardPass& pass);
  /// The gradient of its input.
  tensor::Tensor finish_backward(BackwardPass& pass);
  /// What takes the additions that this backward pass leaves; null: it leaves none.
  autograd::DeferredGradients* deferred(Index chunk, MicrobatchState& state, bool with_weights);
  /// The objectives of the part with the output, added to the sums; their gradients where the pass
  /// has a backward half.
  std::vector<MicrobatchState::Output> losses(autograd::Context& context, const models::Model& part,
                                              const DeviceMicrobatch& microbatch,
                                              const autograd::Var& input);
  /// Adds up what the microbatches' losses were, once the device knows it.
  void add_losses(const StepGraph::TokenSums& token_sums);
  tensor::Tensor loss_seed(autograd::Context& context, const models::Objective& objective) const;
  autograd::AuxiliaryLosses auxiliary_losses(const DeviceMicrobatch& microbatch);
  MicrobatchState& start(Index chunk, Index index);
  void finish(Index chunk, Index index);

  device::Device& device_;
  TrainedModel& model_;
  parallel::DataParallel& replicas_;
  Options options_;
  Timers& timers_;
  mutable LayerTrace layers_;
  autograd::OffloadLanes offload_lanes_;  // null where tensors lie in the host's memory
  pipeline::Executor executor_;
  std::optional<pipeline::Schedule> schedule_;  // the last one played
  autograd::DeferredGradients output_weight_;
  const std::size_t objectives_;  // of the model
  // Of the pass under way:
  Pass pass_;
  const NextMicrobatch* next_ = nullptr;
  std::vector<LossSums> sums_;
  StepGraph::TokenSums token_sums_;
  autograd::LayerSums layer_sums_;
  std::deque<DeviceMicrobatch> microbatches_;  // from `first_microbatch_` on
  Index first_microbatch_ = 0;
  std::vector<Index> taken_;  // for each chunk: microbatches whose forward pass is over
  std::map<std::pair<Index, Index>, std::unique_ptr<MicrobatchState>> microbatches_in_flight_;
  std::vector<std::unique_ptr<MicrobatchState>> spare_states_;  // kept for their memory
  std::optional<StepGraph> graph_;
};

}  // namespace mpitron::train
