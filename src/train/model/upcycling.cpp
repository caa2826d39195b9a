#include "train/model/upcycling.h"

#include <charconv>
#include <cmath>

#include "kernels/elementwise/elementwise.h"
#include "utils/check.h"

namespace mpitron::train {
namespace {

using tensor::Shard;
using tensor::ShardedTensor;

constexpr std::string_view kExperts = ".experts.local_experts.";

/// Returns the place of `part` of a dense matrix, of which an expert's shard is a range; the
/// dimension consists of `blocks` blocks, each cut into `parts`.
Shard part_of_dense(const ShardedTensor& expert, int dim, Index blocks, Index part, Index parts) {
  const Index width = expert.shape[dim] / blocks;
  Shard shard{.dim = dim, .ranges = expert.shard.ranges};
  for (Index block = 0; expert.shard.whole() && block < blocks; ++block) {
    shard.ranges.push_back({block * width, (block + 1) * width});
  }
  for (Shard::Range& range : shard.ranges) {
    const Index block = range.begin / width;
    const Index shift = block * width * (parts - 1) + part * width;
    range.begin += shift;
    range.end += shift;
  }
  return shard;
}

}  // namespace

/// Experts that are pieces of the same dense network start with one router row, so that a token
/// chooses all pieces or none.
void group_router_rows(device::Device& device, autograd::ParameterList& parameters, Index parts) {
  for (autograd::Parameter& parameter : parameters) {
    if (!parameter.name.ends_with(".mlp.router.weight")) {
      continue;
    }
    const tensor::Tensor& rows = parameter.value;
    for (Index expert = rows.shape()[0] - 1; expert > 0; --expert) {
      const Index source = expert / parts;  // not written yet
      device::launch(device.stream(), kernels::Cast{.x = rows.slice(0, source, source + 1).view(),
                                                    .y = rows.slice(0, expert, expert + 1).view()});
    }
  }
}

/// Outputs of the chosen experts are weighted sums: weights are scaled so that the whole begins as
/// the dense model was.
double expert_scale(const config::ModelConfig& model, Index parts) {
  const config::MoeConfig& moe = *model.moe;
  const auto g = static_cast<double>(parts);
  const double copies = static_cast<double>(moe.num_experts) / g;
  // The chosen probabilities sum to 1; those of all experts do with --moe-router-pre-softmax.
  const double growth = moe.pre_softmax ? copies * g * g / static_cast<double>(moe.topk) : g;
  const bool cubic =
      model.gated_linear_unit || model.activation == config::ActivationKind::squared_relu;
  return std::pow(growth, cubic ? 1.0 / 3 : 0.5);
}

/// Names an expert's matrix as its rows or columns of the dense one; everything else is passed on.
void DenseView::tensor(const ShardedTensor& tensor) {
  const std::string& name = tensor.name;
  if (name.find(".mlp.router.") != std::string::npos ||
      name.find(".mlp.shared_experts.") != std::string::npos || name.starts_with("fp8/")) {
    return;
  }
  const std::size_t at = name.find(kExperts);
  if (at == std::string::npos) {
    return dense_.tensor(tensor);
  }
  Index expert = 0;
  const char* const end = name.data() + name.size();
  const char* const rest = std::from_chars(name.data() + at + kExperts.size(), end, expert).ptr;
  const bool rows = name.ends_with(".linear_fc1.weight");
  MPITRON_CHECK(rows || name.ends_with(".linear_fc2.weight"), name);
  const int dim = rows ? 0 : 1;
  const Index blocks = rows && model_.gated_linear_unit ? 2 : 1;

  ShardedTensor dense = tensor;
  dense.name = name.substr(0, at) + std::string(rest, end);
  dense.shape[dim] *= parts_;
  dense.shard = part_of_dense(tensor, dim, blocks, expert % parts_, parts_);
  dense_.tensor(dense);
  experts_.push_back(tensor.value);
}

void DenseView::scale_experts(device::Device& device) const {
  const auto factor = static_cast<float>(expert_scale(model_, parts_));
  for (const tensor::TensorView& values : experts_) {
    if (values.shape.numel() > 0) {
      device::launch(device.stream(), kernels::Scale{.x = values, .y = values, .factor = factor});
    }
  }
}

}  // namespace mpitron::train
