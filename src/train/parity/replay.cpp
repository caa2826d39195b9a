#include "train/parity/replay.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "config/parse/parse.h"
#include "tensor/host_copy.h"
#include "train/batches/sample_schedule.h"
#include "train/batches/training_data.h"
#include "train/parity/recorded_encoder.h"
#include "train/step/train_step.h"
#include "train/tuning/kernel_tuning.h"
#include "utils/error.h"

// Continues a recorded run of the reference: its weights, its batches, and after every step its
// loss and gradient norm beside ours.

namespace mpitron::train {
namespace {

/// Difference relative to the recorded value; NaN is infinitely far.
double relative(double value, double expected) {
  const double difference = std::abs(value - expected) / std::max(std::abs(expected), 1e-30);
  return std::isnan(difference) ? INFINITY : difference;
}

float as_float(const tensor::Tensor& x, Index at) {
  return visit_dtype(x.dtype(), [&]<class T>() { return static_cast<float>(x.data<T>()[at]); });
}

/// Brings the mask [b, 1 or s, s] to the host: 1 where a key is hidden; absent where none is.
tensor::Tensor hidden_keys(device::Device& device, const tensor::Tensor& mask) {
  return mask ? tensor::to_host(device, mask) : tensor::Tensor();
}

/// Tells positions behind the text, where nothing is learned or looked at: what is computed there
/// is not defined.
bool is_padding(const tensor::Tensor& mask, Index sample, Index position) {
  return mask && mask.shape()[1] == 1 &&
         mask.data<std::uint8_t>()[sample * mask.shape()[2] + position] != 0;
}

/// Returns the largest difference of the logits of the first microbatch over all ranks; recorded
/// [b, s, v], ours [s, b, v] of this rank's positions.
double compare_logits(TrainStep& step, TrainedModel& model, const HostMicrobatch& samples,
                      const RecordedLogits& expected) {
  double worst = 0;
  const auto look = [&](const tensor::Tensor& computed, const DeviceMicrobatch& microbatch) {
    const tensor::Tensor logits = tensor::to_host(step.device(), computed);
    const tensor::Tensor hidden =
        hidden_keys(step.device(), microbatch.batch[model.chunk(0).padding_of_logits()]);
    const Index s = logits.shape()[0], b = logits.shape()[1], v = logits.shape()[2];
    MPITRON_CHECK(expected.columns == v, v);
    for (Index i = 0; i < s * b * v; ++i) {
      const Index row = i / (b * v), sample = i / v % b;
      // One row: of the whole sample.
      const Index position = expected.length == 1 ? row : microbatch.positions(row);
      // Recorded logits of images end with the longest row.
      if (position >= expected.length || is_padding(hidden, sample, position)) {
        continue;
      }
      const auto at = static_cast<std::size_t>((sample * expected.length + position) * v + i % v);
      const double difference = std::abs(static_cast<double>(as_float(logits, i)) -
                                         static_cast<double>(expected.values[at]));
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    }
  };
  // The reference recorded them as training sees them: sinkhorn chooses experts there only.
  step.logits(samples, look, autograd::Mode::train);
  return model.world().all()->reduce(worst, comm::Reduction::maximum);
}

/// Returns the same after training. What all choices of a sample have in common counts for nothing
/// and is learned from rounding alone: it is taken off.
double compare_last_logits(TrainStep& step, TrainedModel& model, RecordedCase::Unlearned& last) {
  const config::TextHead& head = *model.chunk(0).config().text_head;
  if (head.choices == 1) {
    return compare_logits(step, model, last.samples, last.logits);
  }
  double worst = 0;
  const auto look = [&](const tensor::Tensor& computed, const DeviceMicrobatch&) {
    const tensor::Tensor logits = tensor::to_host(step.device(), computed);
    for (Index i = 0; i < logits.numel(); ++i) {
      const Index first = i / head.choices * head.choices;
      const auto expected = [&](Index at) {
        return static_cast<double>(last.logits.values[static_cast<std::size_t>(at)]);
      };
      const double own =
          static_cast<double>(as_float(logits, i)) - static_cast<double>(as_float(logits, first));
      worst = std::max(worst, std::abs(own - (expected(i) - expected(first))));
    }
  };
  step.logits(last.samples, look, autograd::Mode::train);
  return model.world().all()->reduce(worst, comm::Reduction::maximum);
}

ReplayedIteration compare(const StepReport& step, const RecordedIteration& recorded) {
  ReplayedIteration result{.loss = step.loss(),
                           .recorded_loss = recorded.loss,
                           .relative_loss = relative(step.loss(), recorded.loss),
                           .grad_norm = step.grad_norm};
  for (const auto& [name, expected] : recorded.other_losses) {
    const auto own = std::ranges::find(step.other_losses, name, &NamedLoss::first);
    const double other = own == step.other_losses.end() ? NAN : own->second;
    result.relative_loss = std::max(result.relative_loss, relative(other, expected));
  }
  if (recorded.grad_norm) {
    result.relative_grad_norm = relative(step.grad_norm, *recorded.grad_norm);
  }
  if (recorded.max_attention_logit) {
    result.relative_logit =
        relative(step.max_attention_logit.value_or(NAN), *recorded.max_attention_logit);
  }
  result.skip_differs = step.skipped != recorded.update_skipped.value_or(false);
  return result;
}

/// Returns by which factor the norm of a parameter may lie further from the recorded one than
/// others: where its gradient is rounding alone Adam makes whole steps of it.
double norm_allowance(const autograd::Parameter& parameter) {
  if (parameter.name == "multichoice_head.bias") {  // all choices have it in common
    return INFINITY;
  }
  const bool of_keys =
      parameter.name.ends_with("linear_qkv.bias") || parameter.name.ends_with("linear_kv.bias");
  return of_keys && parameter.value.dtype() != DType::f32 ? 100 : 1;
}

/// Returns the largest difference of the L2 norms of this rank's parameters from the recorded ones,
/// relative to norms above 0.01 (biases hardly leave 0).
double compare_norms(TrainStep& step, TrainedModel& model, const RecordedCase& recorded) {
  step.replicas().make_whole();
  double worst = 0;
  for (const autograd::Parameter& parameter : model.parameters()) {
    const tensor::Tensor value = tensor::to_host(step.device(), parameter.value);
    double squares = 0;
    for (Index i = 0; i < value.numel(); ++i) {
      squares += std::pow(static_cast<double>(as_float(value, i)), 2);
    }
    if (!parameter.placement.shard.whole()) {
      const comm::ParallelGroups& groups = model.groups();
      squares =
          (parameter.placement.expert ? groups.expert_tensor : groups.tensor)->reduce(squares);
    }
    const auto expected = recorded.final_norms().find(recorded.recorded_name(parameter.name));
    if (expected != recorded.final_norms().end()) {
      const double difference =
          std::abs(std::sqrt(squares) - expected->second) / norm_allowance(parameter);
      worst = std::max(
          worst, std::isnan(difference) ? INFINITY : difference / std::max(expected->second, 1e-2));
    }
  }
  return model.world().all()->reduce(worst, comm::Reduction::maximum);
}

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
  const RecordedLayers layers(recorded.folder(), config.model.num_layers);
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
    result.iterations.push_back(compare(report, expected));
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
