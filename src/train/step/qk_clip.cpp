#include "train/step/qk_clip.h"

#include <algorithm>
#include <cmath>

namespace mpitron::train {

/// The largest over all ranks: each stage knows its layers, each tensor rank its heads.
double QkClip::collect(const autograd::LayerSums& sums, comm::Group& all) {
  largest_ =
      sums.largest("attention logit", model_.layers_and_depths(), model_.num_attention_heads);
  const auto size = static_cast<Index>(largest_.size());
  all.all_reduce({largest_.data(), DType::f64, {size}}, comm::Reduction::maximum).wait();
  return *std::ranges::max_element(largest_);
}

/// Rows of linear_qkv lie by query group: its queries, their gates where there are some, its key,
/// its value. With eta = threshold / largest logit of the group's heads, queries get eta^alpha and
/// the key eta^(1 - alpha), so that every score of the group becomes eta times smaller; gates and
/// values keep theirs. Empty where no head of the layer is above the threshold.
std::vector<float> QkClip::row_factors(Index layer) const {
  const Index heads = model_.num_attention_heads / model_.num_query_groups;
  const Index d = model_.kv_channels, gates = model_.attention_output_gate ? heads * d : 0;
  const auto first = largest_.begin() + (layer - 1) * model_.num_attention_heads;
  std::vector<float> factors;
  bool any = false;
  for (Index group = 0; group < model_.num_query_groups; ++group) {
    const double largest = *std::max_element(first + group * heads, first + (group + 1) * heads);
    const double eta =
        largest > model_.qk_clip->threshold ? model_.qk_clip->threshold / largest : 1;
    any = any || eta < 1;
    const auto append = [&factors](Index rows, double factor) {
      factors.insert(factors.end(), static_cast<std::size_t>(rows), static_cast<float>(factor));
    };
    append(heads * d, std::pow(eta, model_.qk_clip->alpha));
    append(gates, 1);
    append(d, std::pow(eta, 1 - model_.qk_clip->alpha));
    append(d, 1);
  }
  return any ? factors : std::vector<float>();
}

/// Scales this rank's rows of each linear_qkv through the optimizer, which has their masters.
void QkClip::apply(optim::Optimizer& optimizer,
                   std::span<const parallel::ParameterPiece> pieces) const {
  if (!model_.qk_clip) {
    return;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const autograd::Parameter& parameter = *pieces[i].parameter;
    if (!parameter.name.ends_with("self_attention.linear_qkv.weight")) {
      continue;
    }
    const std::vector<float> factors = row_factors(parameter.placement.unit);
    if (factors.empty()) {
      continue;
    }
    std::vector<float> own;
    const tensor::Shard& shard = parameter.placement.shard;
    const Shape local = shard.local(parameter.shape);
    for (Index row = 0; row < local[0]; ++row) {
      const Index global = shard.whole() ? row : shard.global(row);
      own.push_back(factors[static_cast<std::size_t>(global)]);
    }
    optimizer.scale_rows(i, own, local[1]);
  }
}

}  // namespace mpitron::train
