#include "autograd/gradient.h"
#include "train/step/stage_passes.h"

// Backward passes of one chunk over one microbatch: play the tape back. Gradients of weights may
// wait, and two passes may run by turns, as the schedule says.

namespace mpitron::train {

using tensor::Tensor;

autograd::AuxiliaryLosses StagePasses::auxiliary_losses(const DeviceMicrobatch& microbatch) {
  const auto tokens = static_cast<double>(microbatch.samples * microbatch.whole_length);
  const auto pieces = static_cast<double>(model_.groups().context->size());
  return {.microbatch_seed = *pass_.seed_scale * (options_.per_token_loss ? tokens : pieces),
          .token_seed = *pass_.seed_scale,
          .per_token_loss = options_.per_token_loss,
          .sums = &layer_sums_};
}

/// Puts the gradients of what the chunk made into their slots: those of losses are known since the
/// forward pass, that of a hidden state comes from the next stage.
StagePasses::BackwardPass StagePasses::start_backward(Index chunk, Index index, Tensor gradient,
                                                      bool with_weights) {
  replicas_.begin_pass(autograd::Pass::backward);
  MicrobatchState& state = states_.at(chunk, index);
  BackwardPass pass{chunk, index, with_weights, state,
                    this->context(state.position, &state.tape.current())};
  pass.context.recorder.auxiliary = state.auxiliary;
  pass.context.recorder.last_microbatch = index + 1 == pass_.num_microbatches;
  pass.context.recorder.deferred = deferred(chunk, state, with_weights);
  for (PassOutput& output : state.outputs) {
    Tensor& seed = output.gradient ? output.gradient : gradient;
    autograd::accumulate(pass.context, output.slot, std::move(seed));
  }
  state.outputs.clear();
  return pass;
}

/// Between two parts of a tape tokens travel: messages are helped along, and the weights' gradients
/// of the part before are made meanwhile where they were delayed.
void StagePasses::continue_backward(BackwardPass& pass) {
  if (pass.state.tape.played()) {
    return;
  }
  const TimerScope scope = timers_.scope("backward-compute", 2, pass_span(pass.chunk, pass.index));
  pass.state.tape.play_last(pass.context);
  if (pass.with_weights && options_.delay_weights) {
    model_.world().progress();
    pass.state.weights.play(pass.context);
  }
}

/// Plays what is left, and keeps no more deferred additions than allowed: their inputs hold memory.
Tensor StagePasses::finish_backward(BackwardPass& pass) {
  while (!pass.state.tape.played()) {
    continue_backward(pass);
  }
  pass.state.tape.restart();
  Tensor input_gradient = pass.state.input ? autograd::take_gradient(pass.state.input) : Tensor();
  pass.state.input = {};
  if (const std::size_t limit = options_.deferred_outputs.value_or(0); limit > 0) {
    output_weight_.play(pass.context, limit);
  }
  if (pass.with_weights) {
    states_.finish(pass.chunk, pass.index);
  }
  return input_gradient;
}

Tensor StagePasses::backward(Index chunk, Index index, Tensor gradient, bool with_weights) {
  BackwardPass pass = start_backward(chunk, index, std::move(gradient), with_weights);
  return finish_backward(pass);
}

autograd::DeferredGradients* StagePasses::deferred(Index chunk, MicrobatchState& state,
                                                   bool with_weights) {
  if (!with_weights || options_.delay_weights) {
    return &state.weights;
  }
  // A head that tells classes is no such matrix, and nothing else may wait.
  const models::Model& model = model_.chunk(chunk);
  const bool output =
      options_.deferred_outputs && model.part().has_output && model.output_weight() != nullptr;
  return output ? &output_weight_ : nullptr;
}

/// The second half of a split backward pass (zero bubble): gradients of weights alone.
void StagePasses::backward_weight(Index chunk, Index index) {
  const TimerScope scope = timers_.scope("backward-compute", 2, pass_span(chunk, index));
  MicrobatchState& state = states_.at(chunk, index);
  state.weights.play(context(state.position, nullptr));
  states_.finish(chunk, index);
}

}  // namespace mpitron::train
