#include "train/step/step_graph.h"

#include "tensor/host_copy.h"

namespace mpitron::train {

using tensor::Tensor;

/// All ranks do the same: where one of them has to run or record, all do.
StepGraph::Sums StepGraph::run(const Step& step, const Microbatches& microbatches,
                               const Passes& passes) {
  if (warmup_steps_ > 0) {
    --warmup_steps_;
    return passes(microbatches);
  }
  Constants constants{.seed_scale = step.seed_scale, .loss_tokens = {}};
  for (const DeviceMicrobatch& microbatch : microbatches) {
    constants.loss_tokens.push_back(microbatch.batch.loss_tokens);
  }
  const bool recorded = graph_ != nullptr && constants == constants_;
  const Way way = agree(observed() ? Way::run : recorded ? Way::replay : Way::record);
  if (way == Way::run) {
    return passes(microbatches);
  }
  fill(step.key, microbatches);
  if (way == Way::record) {
    record(constants, passes);
  } else {
    auto written = written_.begin();
    for (autograd::Parameter& parameter : parameters_) {
      parameter.sink.written = *written++;
    }
  }
  graph_->launch();
  return sums_;
}

StepGraph::Way StepGraph::agree(Way wanted) const {
  return static_cast<Way>(all_->reduce(static_cast<int>(wanted), comm::Reduction::maximum));
}

/// An observer wants to see every launch.
bool StepGraph::observed() const {
  return std::visit([](const auto& stream) { return stream.observer != nullptr; },
                    device_.stream());
}

/// The first call takes the microbatches' tensors as patterns for memory of its own.
void StepGraph::fill(std::uint64_t step_key, const Microbatches& microbatches) {
  const bool first = inputs_.size() != microbatches.size();
  const Shape bytes = {static_cast<Index>(microbatches.size() * sizeof(StepNumbers))};
  if (first) {
    inputs_ = microbatches;
    numbers_ = Tensor::empty(device_, bytes, DType::u8);
    graph_.reset();
  }
  const Tensor known = tensor::empty_on_host(device_, bytes, DType::u8);
  auto* const numbers = reinterpret_cast<StepNumbers*>(known.view().data);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    numbers[i] = {.step_key = step_key, .first_sample = microbatches[i].first_sample};
    inputs_[i].replayed = static_cast<const StepNumbers*>(numbers_.view().data) + i;
    inputs_[i].first_sample = microbatches[i].first_sample;
    inputs_[i].batch.loss_tokens = microbatches[i].batch.loss_tokens;
    for (const auto& [name, from] : microbatches[i].batch.entries()) {
      if (!from) {
        continue;
      }
      Tensor& to = inputs_[i].batch.at(name);
      if (first) {
        to = Tensor::empty(device_, from.shape(), from.dtype());
      }
      tensor::copy_bytes(device_, from, to);
    }
  }
  tensor::copy_bytes(device_, known, numbers_);
}

/// Records the passes. What they note on the host (whether a gradient was written) is noted here,
/// because a replay runs no host code.
void StepGraph::record(const Constants& constants, const Passes& passes) {
  graph_.reset();
  if constexpr (device::kHasCuda) {
    graph_ = device::record(device_, [&] { sums_ = passes(inputs_); });
  }
  constants_ = constants;
  written_.clear();
  for (const autograd::Parameter& parameter : parameters_) {
    written_.push_back(parameter.sink.written);
  }
  ++recordings_;
}

}  // namespace mpitron::train
