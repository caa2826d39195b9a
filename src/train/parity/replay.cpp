#include "train/parity/replay.h"

#include <algorithm>
#include <cmath>

#include "config/parse.h"
#include "tensor/host_copy.h"
#include "train/batches/num_microbatches.h"
#include "train/batches/training_data.h"
#include "train/parity/recorded_layers.h"
#include "train/step/train_step.h"
#include "utils/error.h"

namespace mpitron::train {
namespace {

double relative(double value, double expected) {
  const double difference = std::abs(value - expected) / std::max(std::abs(expected), 1e-30);
  return std::isnan(difference) ? INFINITY : difference;
}

float as_float(const tensor::Tensor& x, Index at) {
  return visit_dtype(x.dtype(), [&]<class T>() { return static_cast<float>(x.data<T>()[at]); });
}

/// [b, 1 or s, s], for the host: 1 where a key is hidden; absent where none is.
tensor::Tensor hidden_keys(device::Device& device, const models::Batch& batch) {
  const tensor::Tensor& mask =
      batch.decoder_attention_mask ? batch.decoder_attention_mask : batch.attention_mask;
  return mask ? tensor::to_host(device, mask) : tensor::Tensor();
}

/// Behind the text, where nothing is learned or looked at: what is computed there is not defined.
bool is_padding(const tensor::Tensor& mask, Index sample, Index position) {
  return mask && mask.shape()[1] == 1 &&
         mask.data<std::uint8_t>()[sample * mask.shape()[2] + position] != 0;
}

/// Largest difference of the logits of the first microbatch over all ranks; recorded [b, s, v],
/// ours [s, b, v] of this rank's positions.
double compare_logits(TrainStep& step, comm::Group& all, RecordedCase& recorded) {
  const Index micro_batch = recorded.first_logits().shape.at(0);  // not that of the extra flags
  const Index length = recorded.first_logits().shape.at(1);
  const auto expected = recorded.first_logits().as<float>();
  double worst = 0;
  const auto look = [&](const tensor::Tensor& computed, const DeviceMicrobatch& microbatch) {
    const tensor::Tensor logits = tensor::to_host(step.device(), computed);
    const tensor::Tensor hidden = hidden_keys(step.device(), microbatch.batch);
    const Index s = logits.shape()[0], b = logits.shape()[1], v = logits.shape()[2];
    MPITRON_CHECK(recorded.first_logits().shape.at(2) == v, v);
    for (Index i = 0; i < s * b * v; ++i) {
      const Index position = microbatch.positions(i / (b * v)), sample = i / v % b;
      if (is_padding(hidden, sample, position)) {
        continue;
      }
      const double difference =
          std::abs(static_cast<double>(as_float(logits, i)) -
                   static_cast<double>(expected[(sample * length + position) * v + i % v]));
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    }
  };
  // The reference recorded them as training sees them: sinkhorn chooses experts there only.
  step.logits(recorded.rows(0, micro_batch), look, autograd::Mode::train);
  return all.reduce(worst, comm::Reduction::maximum);
}

ReplayedIteration compare(const StepReport& step, const RecordedIteration& recorded) {
  ReplayedIteration result{.loss = step.loss(),
                           .recorded_loss = recorded.loss,
                           .relative_loss = relative(step.loss(), recorded.loss),
                           .grad_norm = step.grad_norm};
  for (const auto& [name, loss] : step.other_losses) {
    result.relative_loss =
        std::max(result.relative_loss, relative(loss, recorded.sop_loss.value_or(NAN)));
  }
  if (recorded.grad_norm) {
    result.relative_grad_norm = relative(step.grad_norm, *recorded.grad_norm);
  }
  result.skip_differs = step.skipped != recorded.update_skipped.value_or(false);
  return result;
}

config::RunConfig configuration(const RecordedCase& recorded,
                                const std::vector<std::string>& extra_flags, Index world_size) {
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
            .buffers = kUpdates * model.moe->bias_update_rate};
  }
  if (model.moe && model.moe->sinkhorn) {
    return {.loss = 2e-3, .grad_norm = 2e-2};
  }
  switch (model.params_dtype) {
    case DType::bf16:
      return {.loss = 1e-3, .grad_norm = 2e-2, .logits = 5e-2, .layer_losses = 1e-3};
    case DType::f16:
      return {.loss = 2e-4, .grad_norm = 2e-3, .logits = 5e-3, .layer_losses = 2e-4};
    default:
      return {};
  }
}

bool ReplayResult::pass() const {
  const bool skips_agree =
      std::ranges::none_of(iterations, [](const ReplayedIteration& i) { return i.skip_differs; });
  return skips_agree && max_relative_loss <= tolerance.loss &&
         max_relative_grad_norm <= tolerance.grad_norm && max_absolute_logits <= tolerance.logits &&
         max_layer_losses <= tolerance.layer_losses && buffers_agree;
}

ReplayResult replay(device::Device& device, comm::World& world, RecordedCase& recorded,
                    const std::vector<std::string>& extra_flags) {
  const config::RunConfig config = configuration(recorded, extra_flags, world.size());
  TrainedModel model(device, config, world);
  const bool whole_model = model.layout().stages() == 1 && model.groups().expert->size() == 1;
  recorded.load_weights(device, model.parameters(), whole_model);
  const Index micro_batch = config.training.micro_batch_size;
  const Index replicas = model.groups().data->size();

  ReplayResult result{.name = recorded.name(), .tolerance = ReplayTolerance::of(config.model)};
  Timers timers(0, config::TimingLogOption::max);
  TrainStep step(device, model, config, timers);
  result.max_absolute_logits = compare_logits(step, *world.all(), recorded);
  const NumMicrobatches num_microbatches(config.training, replicas);
  const RecordedLayers layers(recorded.folder(), config.model.num_layers);
  Index consumed = 0;
  for (const RecordedIteration& expected : recorded.iterations()) {
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
  }
  result.buffers_agree = layers.buffers_agree(device, model.parameters(), result.tolerance.buffers);
  return result;
}

}  // namespace mpitron::train
