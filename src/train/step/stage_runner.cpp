#include "train/step/stage_runner.h"

#include "utils/log.h"

namespace mpitron::train {

StageRunner::StageRunner(device::Device& device, TrainedModel& model,
                         parallel::DataParallel& replicas, const Options& options, Timers& timers)
    : device_(device),
      model_(model),
      options_(options),
      passes_(device, model, replicas, options.passes, timers),
      executor_(model.world(), device, model.groups().pipeline->ranks()) {
  const bool offloads = options.passes.offloaded_layers > 0;
  if (offloads && device.tensors_on_host() && model.world().rank() == 0) {
    log::info("--cpu-offloading-num-layers: activations are in the host's memory anyway");
  }
  if (options.graph_warmup_steps) {
    graph_.emplace(device, model.parameters(), model.world().all(), *options.graph_warmup_steps);
  }
}

/// Schedules are pure functions of their options, and made anew only where these differ.
const pipeline::ActionList& StageRunner::actions(const BatchPass& pass) {
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

std::vector<LossSums> StageRunner::run(const BatchPass& pass, const NextMicrobatch& next) {
  passes_.microbatches().begin(next);
  StepGraph::Sums sums = graph_ && pass.seed_scale ? replay(pass) : play(pass);
  std::vector<LossSums> losses = read_sums(device_, sums.tokens);
  layer_sums_ = std::move(sums.layers);
  layer_sums_.read(device_);
  return losses;
}

void StageRunner::kernels_changed() {
  if (graph_) {
    graph_->forget();
  }
}

StepGraph::Sums StageRunner::play(const BatchPass& pass) {
  pipeline::HiddenState hidden = options_.hidden;
  if (pass.micro_batch_size) {
    hidden.shape[1] = *pass.micro_batch_size;
  }
  passes_.begin(pass);
  executor_.play(actions(pass), passes_.callbacks(), hidden);
  return passes_.finish();
}

/// All microbatches are on the device before a graph is launched, in memory that it knows.
StepGraph::Sums StageRunner::replay(const BatchPass& pass) {
  MicrobatchQueue& queue = passes_.microbatches();
  return graph_->run(
      {.seed_scale = *pass.seed_scale,
       .key = step_key(options_.passes.seed, static_cast<std::uint64_t>(pass.iteration))},
      queue.take(pass.num_microbatches), [&](StepGraph::Microbatches microbatches) {
        queue.begin(std::move(microbatches));
        return play(pass);
      });
}

}  // namespace mpitron::train
