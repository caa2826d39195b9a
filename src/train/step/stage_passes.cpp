#include "train/step/stage_passes.h"

// Forward passes of one chunk over one microbatch: make a context, run the model, keep the tape.

namespace mpitron::train {

using autograd::Context;
using autograd::SamplePosition;
using autograd::Var;
using tensor::Tensor;

TraceSpan pass_span(Index chunk, Index microbatch) {
  return {.kind = TraceKind::pass,
          .chunk = static_cast<std::int32_t>(chunk),
          .microbatch = static_cast<std::int32_t>(microbatch)};
}

/// Cuts the tape, and runs the next part of the backward pass beside it, if there is one.
class StagePasses::ForwardGaps final : public autograd::DeferredGradients {
 public:
  ForwardGaps(StagePasses& passes, autograd::SegmentedTape& tape, BackwardPass* beside)
      : passes_(passes), tape_(tape), beside_(beside) {}

  void overlapped_work(Context& context) override {
    if (context.recording()) {
      tape_.cut();
      context.recorder.tape = context.recorder.usage = &tape_.current();
    }
    if (beside_ != nullptr) {
      passes_.continue_backward(*beside_);
    }
  }

 private:
  StagePasses& passes_;
  autograd::SegmentedTape& tape_;
  BackwardPass* beside_;
};

StagePasses::StagePasses(device::Device& device, TrainedModel& model,
                         parallel::DataParallel& replicas, const Options& options, Timers& timers)
    : device_(device),
      model_(model),
      replicas_(replicas),
      options_(options),
      timers_(timers),
      layers_(replicas, timers.trace()),
      output_weight_(model.chunk(model.chunks() - 1).output_weight()),
      microbatches_(device, model, timers),
      states_(device, options.offloaded_layers),
      objectives_(model.chunk(0).objective_traits().size(), options.per_token_loss) {}

void StagePasses::begin(const BatchPass& pass) {
  pass_ = pass;
  objectives_.begin();
  layer_sums_.clear();
}

/// Returns the computations that a schedule is made of; messages between stages are the executor's.
pipeline::StepCallbacks StagePasses::callbacks() {
  return {.forward = [this](Index chunk, Index index,
                            Tensor input) { return forward(chunk, index, std::move(input)); },
          .backward =
              [this](Index chunk, Index index, Tensor gradient, bool with_weights) {
                return backward(chunk, index, std::move(gradient), with_weights);
              },
          .backward_weight = [this](Index chunk, Index index) { backward_weight(chunk, index); },
          .forward_and_backward =
              [this](auto forward, auto backward) {
                return forward_and_backward(std::move(forward), std::move(backward));
              }};
}

/// Ends the passes of a step. Gradients of the output layer's weight that have waited for this are
/// added in the order of the microbatches.
StepGraph::Sums StagePasses::finish() {
  if (output_weight_.size() > 0) {
    const TimerScope scope = timers_.scope("backward-compute", 2);
    output_weight_.play(context({}, nullptr));
  }
  return {objectives_.take(), std::exchange(layer_sums_, {})};
}

Context StagePasses::context(const SamplePosition& position, autograd::Tape* tape) const {
  return {.device = device_,
          .mode = tape != nullptr ? autograd::Mode::train : pass_.mode,
          .seed = options_.seed,
          .iteration = static_cast<std::uint64_t>(pass_.iteration),
          .position = position,
          .recorder = {.tape = tape, .usage = tape, .keeper = &layers_.keeper()}};
}

/// A state is kept only where a backward pass will come; an evaluation leaves nothing behind.
Tensor StagePasses::forward(Index chunk, Index index, Tensor input, BackwardPass* overlapped_work) {
  const TimerScope scope = timers_.scope("forward-compute", 2, pass_span(chunk, index));
  replicas_.begin_pass(autograd::Pass::forward);
  const DeviceMicrobatch& microbatch = microbatches_.at(index);
  MicrobatchState* state = pass_.seed_scale ? &states_.start(chunk, index) : nullptr;
  const SamplePosition position{.first_sample = microbatch.first_sample,
                                .sequence = microbatch.positions,
                                .replayed = microbatch.replayed};
  Context context = this->context(position, state != nullptr ? &state->tape.current() : nullptr);
  std::optional<ForwardGaps> gaps;
  if (state != nullptr) {
    state->auxiliary = context.recorder.auxiliary = auxiliary_losses(microbatch);
    context.recorder.offload = state->offload ? &*state->offload : nullptr;
    if (options_.cut_passes) {
      context.recorder.deferred = &gaps.emplace(*this, state->tape, overlapped_work);
    }
  }
  const Var x = state != nullptr && input ? autograd::variable(std::move(input))
                                          : autograd::constant(std::move(input));
  Tensor to_send;
  std::vector<PassOutput> outputs = run_chunk(context, chunk, microbatch, x, to_send);
  if (context.recorder.offload != nullptr) {
    context.recorder.offload->end_forward();
  }
  if (state != nullptr) {
    state->input = x.slot;
    state->outputs = std::move(outputs);
    state->position = position;
  }
  microbatches_.taken_by(chunk);
  return to_send;
}

/// The part with the output ends in losses, or in logits where these are asked for; every other
/// part hands its hidden state on.
std::vector<PassOutput> StagePasses::run_chunk(Context& context, Index chunk,
                                               const DeviceMicrobatch& microbatch, const Var& x,
                                               Tensor& to_send) {
  const models::Model& part = model_.chunk(chunk);
  if (!part.part().has_output) {
    const Var output = part.hidden(context, microbatch.batch, x);
    to_send = output.value;
    return {{output.slot, {}}};
  }
  if (pass_.on_logits) {
    pass_.on_logits(part.logits(context, microbatch.batch, x).value, microbatch);
    return {};
  }
  std::vector<models::Objective> objectives = part.objectives(context, microbatch.batch, x);
  if (pass_.on_objectives) {
    pass_.on_objectives(objectives, microbatch);
    return {};
  }
  return objectives_.add(context, std::move(objectives), pass_.seed_scale.value_or(0));
}

std::pair<Tensor, Tensor> StagePasses::forward_and_backward(
    pipeline::StepCallbacks::Pass forward, pipeline::StepCallbacks::Pass backward) {
  BackwardPass beside =
      start_backward(backward.chunk, backward.microbatch, std::move(backward.value), true);
  Tensor output =
      this->forward(forward.chunk, forward.microbatch, std::move(forward.value), &beside);
  return {std::move(output), finish_backward(beside)};
}

}  // namespace mpitron::train
