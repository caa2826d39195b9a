#include "train/parity/replay_comparison.h"

#include <algorithm>
#include <cmath>

#include "tensor/host_copy.h"
#include "train/parity/replay.h"
#include "train/step/train_step.h"
#include "utils/error.h"

// Comparison of a replayed run with the recorded one: logits, losses, gradient norms.

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

/// Returns by which factor the norm of a parameter may lie further from the recorded one than
/// others: where its gradient is rounding alone Adam makes whole steps of it.
double norm_allowance(const autograd::Parameter& parameter) {
  if (parameter.name == "multichoice_head.bias") {  // all choices have it in common
    return INFINITY;
  }
  if (parameter.name.ends_with("k_layernorm.bias")) {  // adds the same to all scores of a query
    return 100;
  }
  const bool of_keys =
      parameter.name.ends_with("linear_qkv.bias") || parameter.name.ends_with("linear_kv.bias");
  return of_keys && parameter.value.dtype() != DType::f32 ? 100 : 1;
}

}  // namespace

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

ReplayedIteration compare_losses(const StepReport& step, const RecordedIteration& recorded) {
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

double compare_norms(TrainStep& step, TrainedModel& model, const RecordedCase& recorded) {
  step.replicas().make_whole();
  double worst = 0;
  for (const autograd::Parameter& parameter : model.parameters()) {
    const tensor::Tensor value = tensor::to_host(step.device(), parameter.value);
    const float less = recorded.recorded_less(parameter.name);
    double squares = 0;
    for (Index i = 0; i < value.numel(); ++i) {
      squares += std::pow(static_cast<double>(as_float(value, i) - less), 2);
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

}  // namespace mpitron::train
