#include "train/parity/replay.h"

#include <algorithm>
#include <span>

#include "config/parse/parse.h"
#include "train/batches/sample_schedule.h"
#include "train/batches/training_data.h"
#include "train/parity/recorded_encoder.h"
#include "train/parity/replay_comparison.h"
#include "train/step/train_step.h"
#include "train/tuning/kernel_tuning.h"
#include "utils/error.h"

// Continues a recorded run of the reference: its weights, its batches, and after every step its
// loss and gradient norm beside ours.

namespace mpitron::train {
namespace {

config::RunConfig configuration(RecordedCase& recorded, const std::vector<std::string>& extra_flags,
                                Index world_size) {
  std::vector<std::string> flags = recorded.flags();
  flags.insert(flags.end(), {"--model", recorded.model_type()});
  flags.insert(flags.end(), extra_flags.begin(), extra_flags.end());
  config::RunConfig config = config::parse_run_config(flags, world_size);
  recorded.apply_settings_without_flags(config);
  config.model.padded_vocab_size =
      padded_vocab_size(config, make_run_tokenizer(config.data)->vocab_size());
  return config;
}

}  // namespace

ReplayTolerance ReplayTolerance::of(const config::ModelConfig& model) {
  if (model.moe && model.params_dtype != DType::f32) {
    constexpr double kUpdates = 4;  // of a bias: an expert may have more tokens instead of fewer
    return {.loss = 4e-3,
            .grad_norm = 4e-2,
            .logits = 2,
            .layer_losses = 2e-2,
            .final_norms = 1e-2,
            .buffers = kUpdates * model.moe->bias_update_rate};
  }
  if (model.moe && model.moe->sinkhorn) {
    return {.loss = 2e-3, .grad_norm = 2e-2, .final_norms = 1e-2};
  }
  switch (model.params_dtype) {
    case DType::bf16:
      return {.loss = 1e-3,
              .grad_norm = 2e-2,
              .logits = 5e-2,
              .layer_losses = 1e-3,
              .final_norms = 5e-3};
    case DType::f16:
      return {.loss = 2e-4,
              .grad_norm = 2e-3,
              .logits = 5e-3,
              .layer_losses = 2e-4,
              .final_norms = 2e-3};
    default:
      return {};
  }
}

bool ReplayResult::pass() const {
  const bool skips_agree =
      std::ranges::none_of(iterations, [](const ReplayedIteration& i) { return i.skip_differs; });
  return skips_agree && max_relative_loss <= tolerance.loss &&
         max_relative_grad_norm <= tolerance.grad_norm && max_absolute_logits <= tolerance.logits &&
         max_last_logits <= tolerance.last_logits && max_layer_losses <= tolerance.layer_losses &&
         max_relative_logit <= tolerance.grad_norm && max_relative_norm <= tolerance.final_norms &&
         buffers_agree;
}

ReplayResult replay(device::Device& device, comm::World& world, RecordedCase& recorded,
                    const std::vector<std::string>& extra_flags, std::size_t iterations) {
  const config::RunConfig config = configuration(recorded, extra_flags, world.size());
  const KernelChoice kernels(device, config.training, config.model.attention_backend);
  TrainedModel model(device, config, world);
  const bool whole_model = model.layout().stages() == 1 && model.groups().expert->size() == 1;
  recorded.load_weights(device, model.parameters(), whole_model);
  const Index micro_batch = config.training.micro_batch_size;
  const Index replicas = model.groups().data->size();

  ReplayResult result{.name = recorded.name(), .tolerance = ReplayTolerance::of(config.model)};
  if (recorded.encoder_only()) {
    result.max_absolute_logits = compare_encoder(device, model, recorded.folder());
    return result;
  }
  Timers timers(0, config::TimingLogOption::max);
  TrainStep step(device, model, config, timers);
  const RecordedLogits first = recorded.first_logits();
  // Not a microbatch of the extra flags.
  const Index rows = first.rows > 0 ? first.rows : first.samples;
  const Index texts = config.model.text_head ? config.model.text_head->choices : 1;
  result.max_absolute_logits = compare_logits(step, model, recorded.rows(0, rows * texts), first);
  const NumMicrobatches num_microbatches(config.training, replicas);
  const RecordedLayers layers(recorded.folder(), config.model);
  Index consumed = 0;
  const std::size_t count = std::min(iterations, recorded.iterations().size());
  for (const RecordedIteration& expected : std::span(recorded.iterations()).first(count)) {
    const BatchSize batch = num_microbatches.at(consumed);
    Index row = consumed + model.groups().data->rank() * micro_batch;
    const auto next = [&] {
      return recorded.rows(std::exchange(row, row + micro_batch * replicas), micro_batch);
    };
    const auto iteration = static_cast<Index>(result.iterations.size()) + 1;
    const StepReport report = step.run(iteration, batch.num_microbatches, batch.running, next);
    result.iterations.push_back(compare_losses(report, expected));
    result.max_layer_losses =
        std::max(result.max_layer_losses, layers.difference(iteration, report.layers));
    consumed += batch.running;
    const ReplayedIteration& last = result.iterations.back();
    result.max_relative_loss = std::max(result.max_relative_loss, last.relative_loss);
    result.max_relative_grad_norm =
        std::max(result.max_relative_grad_norm, last.relative_grad_norm);
    result.max_relative_logit = std::max(result.max_relative_logit, last.relative_logit);
  }
  result.complete = count == recorded.iterations().size();
  if (!result.complete) {
    return result;
  }
  if (auto last = recorded.last_logits()) {
    result.max_last_logits = compare_last_logits(step, model, *last);
  }
  result.max_relative_norm = compare_norms(step, model, recorded);
  result.buffers_agree = layers.buffers_agree(device, model.parameters(), result.tolerance.buffers);
  return result;
}

}  // namespace mpitron::train
