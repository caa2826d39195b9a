#include "train/step/qk_clip.h"

#include <algorithm>
#include <cmath>

namespace mpitron::train {

/// The largest over all ranks: each stage knows its layers, each tensor rank its heads. As in the
/// reference, depths of multi-token prediction are neither told nor clipped.
double QkClip::collect(const autograd::LayerSums& sums, comm::Group& all) {
  largest_ =
      sums.largest("attention logit", model_.layers_and_depths(), model_.num_attention_heads);
  const Index size = model_.all_layers() * model_.num_attention_heads;
  largest_.resize(static_cast<std::size_t>(size));
  all.all_reduce({largest_.data(), DType::f64, {size}}, comm::Reduction::maximum).wait();
  return *std::ranges::max_element(largest_);
}

/// With eta = threshold / largest logit of a group, queries get eta^alpha and keys eta^(1 - alpha),
/// so that every score becomes eta times smaller; gates and values keep theirs. All heads of latent
/// attention share the rotary part of the key, which stays: that of each head's query gets eta.
std::vector<QkClip::RowPart> QkClip::parts_of(std::string_view name) const {
  const double queries = model_.qk_clip->alpha, keys = 1 - queries;
  if (name.ends_with("self_attention.linear_qkv.weight")) {
    const Index d = model_.kv_channels;
    const Index all = model_.num_attention_heads / model_.num_query_groups * d;
    return {{all, queries}, {model_.attention_output_gate ? all : 0, 0}, {d, keys}, {d, 0}};
  }
  if (name.ends_with("self_attention.linear_q_proj.weight") ||
      name.ends_with("self_attention.linear_q_up_proj.weight")) {
    return {{model_.qk_head_dim, queries}, {model_.qk_pos_emb_head_dim, 1}};
  }
  if (name.ends_with("self_attention.linear_kv_up_proj.weight")) {
    return {{model_.qk_head_dim, keys}, {model_.v_head_dim, 0}};
  }
  return {};
}

/// Heads of latent attention are groups of their own.
std::vector<float> QkClip::row_factors(std::string_view name, Index layer) const {
  const std::vector<RowPart> parts = parts_of(name);
  if (parts.empty() || layer > model_.all_layers()) {
    return {};
  }
  const Index groups =
      model_.multi_latent_attention ? model_.num_attention_heads : model_.num_query_groups;
  const Index heads = model_.num_attention_heads / groups;
  const auto first = largest_.begin() + (layer - 1) * model_.num_attention_heads;
  std::vector<float> factors;
  bool any = false;
  for (Index group = 0; group < groups; ++group) {
    const double largest = *std::max_element(first + group * heads, first + (group + 1) * heads);
    const double eta =
        largest > model_.qk_clip->threshold ? model_.qk_clip->threshold / largest : 1;
    any = any || eta < 1;
    for (const RowPart& part : parts) {
      factors.insert(factors.end(), static_cast<std::size_t>(part.rows),
                     static_cast<float>(std::pow(eta, part.power)));
    }
  }
  return any ? factors : std::vector<float>();
}

/// Scales this rank's rows of each projection through the optimizer, which has their masters.
void QkClip::apply(optim::Optimizer& optimizer,
                   std::span<const parallel::ParameterPiece> pieces) const {
  if (!model_.qk_clip) {
    return;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const autograd::Parameter& parameter = *pieces[i].parameter;
    const std::vector<float> factors = row_factors(parameter.name, parameter.placement.unit);
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
