#include "train/step_graph.h"

#include "tensor/host_copy.h"

namespace mpitron::train {
namespace {

using tensor::Tensor;

/// Every tensor of two microbatches, in pairs.
template <class Visit>
void for_each_pair(const models::Batch& from, models::Batch& to, const Visit& visit) {
  using models::Batch;
  for (Tensor Batch::*const member :
       {&Batch::tokens, &Batch::position_ids, &Batch::labels, &Batch::attention_mask,
        &Batch::loss_mask, &Batch::token_types, &Batch::sentence_order, &Batch::decoder_tokens,
        &Batch::decoder_position_ids, &Batch::decoder_attention_mask}) {
    if (from.*member) {
      visit(from.*member, to.*member);
    }
  }
}

}  // namespace

StepGraph::TokenSums StepGraph::run(double seed_scale, const Microbatches& microbatches,
                                    const Passes& passes) {
  if (warmup_steps_ > 0) {
    --warmup_steps_;
    return passes(microbatches);
  }
  if (observed()) {  // it wants to see every launch
    return passes(microbatches);
  }
  Constants constants{.seed_scale = seed_scale, .loss_tokens = {}};
  for (const DeviceMicrobatch& microbatch : microbatches) {
    constants.loss_tokens.push_back(microbatch.batch.loss_tokens);
  }
  fill(microbatches);
  if (graph_ == nullptr || constants != constants_) {
    record(constants, passes);
  } else {
    auto written = written_.begin();
    for (autograd::Parameter& parameter : parameters_) {
      parameter.gradient_written = *written++;
    }
  }
  graph_->launch();
  return sums_;
}

bool StepGraph::observed() const {
  return std::visit([](const auto& stream) { return stream.observer != nullptr; },
                    device_.stream());
}

void StepGraph::fill(const Microbatches& microbatches) {
  const bool first = inputs_.size() != microbatches.size();
  if (first) {
    inputs_ = microbatches;
    graph_.reset();
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i].first_sample = microbatches[i].first_sample;
    inputs_[i].batch.loss_tokens = microbatches[i].batch.loss_tokens;
    for_each_pair(microbatches[i].batch, inputs_[i].batch, [&](const Tensor& from, Tensor& to) {
      if (first) {
        to = Tensor::empty(device_, from.shape(), from.dtype());
      }
      tensor::copy_bytes(device_, from, to);
    });
  }
}

void StepGraph::record(const Constants& constants, const Passes& passes) {
  graph_.reset();
  if constexpr (device::kHasCuda) {
    graph_ = device::record(device_, [&] { sums_ = passes(inputs_); });
  }
  constants_ = constants;
  written_.clear();
  for (const autograd::Parameter& parameter : parameters_) {
    written_.push_back(parameter.gradient_written);
  }
  ++recordings_;
}

}  // namespace mpitron::train
