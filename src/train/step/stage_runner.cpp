#include "train/step/stage_runner.h"

#include <algorithm>

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/host_copy.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::train {

using autograd::Context;
using autograd::SamplePosition;
using autograd::Var;
using tensor::Tensor;

namespace {

/// How a trace tells the passes of microbatches apart.
TraceSpan pass_span(Index chunk, Index microbatch) {
  return {.kind = TraceKind::pass,
          .chunk = static_cast<std::int32_t>(chunk),
          .microbatch = static_cast<std::int32_t>(microbatch)};
}

}  // namespace

/// Cuts the tape, and runs the next part of the backward pass beside it, if there is one.
class StageRunner::ForwardGaps final : public autograd::DeferredGradients {
 public:
  ForwardGaps(StageRunner& runner, autograd::SegmentedTape& tape, BackwardPass* beside)
      : runner_(runner), tape_(tape), beside_(beside) {}

  void overlapped_work(Context& context) override {
    if (context.recording()) {
      tape_.cut();
      context.tape = context.usage = &tape_.current();
    }
    if (beside_ != nullptr) {
      runner_.continue_backward(*beside_);
    }
  }

 private:
  StageRunner& runner_;
  autograd::SegmentedTape& tape_;
  BackwardPass* beside_;
};

StageRunner::StageRunner(device::Device& device, TrainedModel& model,
                         parallel::DataParallel& replicas, const Options& options, Timers& timers)
    : device_(device),
      model_(model),
      replicas_(replicas),
      options_(options),
      timers_(timers),
      layers_(replicas, timers.trace()),
      offload_lanes_{device::make_copy_lane(device.stream()),
                     device::make_copy_lane(device.stream())},
      executor_(model.world(), device, model.groups().pipeline->ranks()),
      output_weight_(model.chunk(model.chunks() - 1).output_weight()),
      objectives_(model.chunk(0).objective_traits().size()) {
  if (options.offloaded_layers > 0 && device.tensors_on_host() && model.world().rank() == 0) {
    log::info("--cpu-offloading-num-layers: activations are in the host's memory anyway");
  }
  if (options.graph_warmup_steps) {
    graph_.emplace(device, model.parameters(), model.world().all(), *options.graph_warmup_steps);
  }
}

const pipeline::ActionList& StageRunner::actions(const Pass& pass) {
  const bool forward_only = !pass.seed_scale.has_value();
  if (!schedule_ || schedule_->options.microbatches != pass.num_microbatches ||
      schedule_->options.forward_only != forward_only) {
    pipeline::ScheduleOptions options = options_.schedule;
    options.microbatches = pass.num_microbatches;
    options.forward_only = forward_only;
    schedule_ = pipeline::make_schedule(options);
  }
  return schedule_->stages[static_cast<std::size_t>(model_.stage())];
}

std::vector<LossSums> StageRunner::run(const Pass& pass, const NextMicrobatch& next) {
  pass_ = pass;
  next_ = &next;
  sums_.assign(objectives_, {});
  layer_sums_.clear();
  first_microbatch_ = 0;
  pipeline::HiddenState hidden = options_.hidden;
  if (pass.micro_batch_size) {
    hidden.shape[1] = *pass.micro_batch_size;
  }
  add_losses(graph_ && pass.seed_scale ? replay(hidden) : play(hidden));
  layer_sums_.read(device_);
  return sums_;
}

void StageRunner::kernels_changed() {
  if (graph_) {
    graph_->forget();
  }
}

StepGraph::TokenSums StageRunner::play(const pipeline::HiddenState& hidden) {
  token_sums_.assign(objectives_, {});
  taken_.assign(static_cast<std::size_t>(model_.chunks()), 0);
  first_microbatch_ = 0;
  const pipeline::StepCallbacks callbacks{
      .forward = [this](Index chunk, Index index,
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
  executor_.play(actions(pass_), callbacks, hidden);
  if (output_weight_.size() > 0) {
    const TimerScope scope = timers_.scope("backward-compute", 2);
    output_weight_.play(context({}, nullptr));
  }
  return std::exchange(token_sums_, {});
}

StepGraph::TokenSums StageRunner::replay(const pipeline::HiddenState& hidden) {
  for (Index index = 0; index < pass_.num_microbatches; ++index) {
    microbatch(index);
  }
  StepGraph::Sums sums =
      graph_->run({.seed_scale = *pass_.seed_scale,
                   .key = step_key(options_.seed, static_cast<std::uint64_t>(pass_.iteration))},
                  std::exchange(microbatches_, {}), [&](StepGraph::Microbatches microbatches) {
                    microbatches_ = std::move(microbatches);
                    layer_sums_.clear();
                    StepGraph::TokenSums tokens = play(hidden);
                    return StepGraph::Sums{std::move(tokens), std::exchange(layer_sums_, {})};
                  });
  layer_sums_ = std::move(sums.layers);
  return std::move(sums.tokens);
}

const DeviceMicrobatch& StageRunner::microbatch(Index index) {
  const Index place = index - first_microbatch_;
  MPITRON_CHECK(place >= 0, index, first_microbatch_);
  while (place >= static_cast<Index>(microbatches_.size())) {
    const TimerScope scope = timers_.scope("batch-generator", 2);
    const comm::Group& context = *model_.groups().context;
    const ContextPlace place{.ranks = context.size(), .rank = context.rank()};
    const models::Model& model = model_.chunk(0);
    DeviceMicrobatch& last = microbatches_.emplace_back(upload(model, (*next_)(), place));
    if (model_.reads_data()) {
      broadcast_microbatch(device_, *model_.groups().tensor, model, last);
    }
  }
  return microbatches_[static_cast<std::size_t>(place)];
}

void StageRunner::release_microbatches() {
  const Index taken_by_all = *std::ranges::min_element(taken_);
  for (; first_microbatch_ < taken_by_all; ++first_microbatch_) {
    microbatches_.pop_front();
  }
}

Context StageRunner::context(const SamplePosition& position, autograd::Tape* tape) const {
  return {.device = device_,
          .tape = tape,
          .usage = tape,
          .keeper = &layers_.keeper(),
          .mode = tape != nullptr ? autograd::Mode::train : pass_.mode,
          .seed = options_.seed,
          .iteration = static_cast<std::uint64_t>(pass_.iteration),
          .position = position};
}

StageRunner::MicrobatchState& StageRunner::start(Index chunk, Index index) {
  std::unique_ptr<MicrobatchState>& state = microbatches_in_flight_[{chunk, index}];
  MPITRON_CHECK(state == nullptr, chunk, index);
  if (spare_states_.empty()) {
    state = std::make_unique<MicrobatchState>();
    if (options_.offloaded_layers > 0 && !device_.tensors_on_host()) {
      state->offload.emplace(
          device_, offload_lanes_,
          autograd::ActivationOffload::Limits{.layers = options_.offloaded_layers});
    }
  } else {
    state = std::move(spare_states_.back());
    spare_states_.pop_back();
  }
  return *state;
}

Tensor StageRunner::forward(Index chunk, Index index, Tensor input, BackwardPass* overlapped_work) {
  const TimerScope scope = timers_.scope("forward-compute", 2, pass_span(chunk, index));
  replicas_.begin_pass(autograd::Pass::forward);
  const DeviceMicrobatch& microbatch = this->microbatch(index);
  const models::Model& part = model_.chunk(chunk);
  MicrobatchState* state = pass_.seed_scale ? &start(chunk, index) : nullptr;
  const SamplePosition position{.first_sample = microbatch.first_sample,
                                .sequence = microbatch.positions,
                                .replayed = microbatch.replayed};
  Context context = this->context(position, state != nullptr ? &state->tape.current() : nullptr);
  std::optional<ForwardGaps> gaps;
  if (state != nullptr) {
    state->auxiliary = context.auxiliary = auxiliary_losses(microbatch);
    context.offload = state->offload ? &*state->offload : nullptr;
    if (options_.cut_passes) {
      context.deferred = &gaps.emplace(*this, state->tape, overlapped_work);
    }
  }
  const Var x = state != nullptr && input ? autograd::variable(std::move(input))
                                          : autograd::constant(std::move(input));
  Tensor to_send;
  std::vector<MicrobatchState::Output> outputs;
  if (part.part().has_output && pass_.on_logits) {
    pass_.on_logits(part.logits(context, microbatch.batch, x).value, microbatch);
  } else if (part.part().has_output) {
    outputs = losses(context, part, microbatch, x);
  } else {
    const Var output = part.hidden(context, microbatch.batch, x);
    to_send = output.value;
    outputs.push_back({output.slot, {}});
  }
  if (context.offload != nullptr) {
    context.offload->end_forward();
  }
  if (state != nullptr) {
    state->input = x.slot;
    state->outputs = std::move(outputs);
    state->position = position;
  }
  ++taken_[static_cast<std::size_t>(chunk)];
  release_microbatches();
  return to_send;
}

std::vector<StageRunner::MicrobatchState::Output> StageRunner::losses(
    Context& context, const models::Model& part, const DeviceMicrobatch& microbatch,
    const Var& input) {
  std::vector<MicrobatchState::Output> outputs;
  auto objectives = part.objectives(context, microbatch.batch, input);
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    if (Tensor& mask = objectives[i].mask; !mask) {
      mask = context.empty(objectives[i].losses.shape(), DType::f32);
      context.launch(kernels::Fill{.x = mask.view(), .value = 1});
    }
    token_sums_[i].push_back(objectives[i].sums(context));
    if (context.recording() && objectives[i].losses.slot) {
      outputs.push_back({objectives[i].losses.slot, loss_seed(context, objectives[i])});
    }
  }
  return outputs;
}

void StageRunner::add_losses(const StepGraph::TokenSums& token_sums) {
  for (std::size_t i = 0; i < token_sums.size(); ++i) {
    for (const Tensor& microbatch : tensor::to_host(device_, token_sums[i])) {
      const double loss = microbatch.data<double>()[0], tokens = microbatch.data<double>()[1];
      sums_[i].loss += loss;
      sums_[i].tokens += tokens;
      sums_[i].means += loss / std::max(tokens, 1.0);
      sums_[i].microbatches += 1;
    }
  }
}

/// d(objective) / d(token loss): the mask, divided by what the reference's objective divides by.
Tensor StageRunner::loss_seed(Context& context, const models::Objective& objective) const {
  const double divisor = options_.per_token_loss ? 1.0 : std::max(objective.count, 1.0);
  return objective.seed(context, *pass_.seed_scale / divisor);
}

autograd::AuxiliaryLosses StageRunner::auxiliary_losses(const DeviceMicrobatch& microbatch) {
  const auto tokens = static_cast<double>(microbatch.samples * microbatch.whole_length);
  const auto pieces = static_cast<double>(model_.groups().context->size());
  return {.microbatch_seed = *pass_.seed_scale * (options_.per_token_loss ? tokens : pieces),
          .token_seed = *pass_.seed_scale,
          .per_token_loss = options_.per_token_loss,
          .sums = &layer_sums_};
}

void StageRunner::finish(Index chunk, Index index) {
  spare_states_.push_back(std::move(microbatches_in_flight_.extract({chunk, index}).mapped()));
}

StageRunner::BackwardPass StageRunner::start_backward(Index chunk, Index index, Tensor gradient,
                                                      bool with_weights) {
  replicas_.begin_pass(autograd::Pass::backward);
  MicrobatchState& state = *microbatches_in_flight_.at({chunk, index});
  BackwardPass pass{chunk, index, with_weights, state,
                    this->context(state.position, &state.tape.current())};
  pass.context.auxiliary = state.auxiliary;
  pass.context.last_microbatch = index + 1 == pass_.num_microbatches;
  pass.context.deferred = deferred(chunk, state, with_weights);
  for (MicrobatchState::Output& output : state.outputs) {
    Tensor& seed = output.gradient ? output.gradient : gradient;
    autograd::accumulate(pass.context, output.slot, std::move(seed));
  }
  state.outputs.clear();
  return pass;
}

void StageRunner::continue_backward(BackwardPass& pass) {
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

Tensor StageRunner::finish_backward(BackwardPass& pass) {
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
    finish(pass.chunk, pass.index);
  }
  return input_gradient;
}

Tensor StageRunner::backward(Index chunk, Index index, Tensor gradient, bool with_weights) {
  BackwardPass pass = start_backward(chunk, index, std::move(gradient), with_weights);
  return finish_backward(pass);
}

std::pair<Tensor, Tensor> StageRunner::forward_and_backward(
    pipeline::StepCallbacks::Pass forward, pipeline::StepCallbacks::Pass backward) {
  BackwardPass beside =
      start_backward(backward.chunk, backward.microbatch, std::move(backward.value), true);
  Tensor output =
      this->forward(forward.chunk, forward.microbatch, std::move(forward.value), &beside);
  return {std::move(output), finish_backward(beside)};
}

autograd::DeferredGradients* StageRunner::deferred(Index chunk, MicrobatchState& state,
                                                   bool with_weights) {
  if (!with_weights || options_.delay_weights) {
    return &state.weights;
  }
  const bool output = options_.deferred_outputs && model_.chunk(chunk).part().has_output;
  return output ? &output_weight_ : nullptr;
}

void StageRunner::backward_weight(Index chunk, Index index) {
  const TimerScope scope = timers_.scope("backward-compute", 2, pass_span(chunk, index));
  MicrobatchState& state = *microbatches_in_flight_.at({chunk, index});
  state.weights.play(context(state.position, nullptr));
  finish(chunk, index);
}

}  // namespace mpitron::train
