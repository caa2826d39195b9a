#include "config/resolve/resolve.h"

// Options on experts as a MoeConfig.

namespace mpitron::config {
namespace {

/// Marks the layers with experts: every n-th from the first on, or those that the list marks.
std::vector<bool> moe_layers(const OptionValues& v, Index layers) {
  const Frequency frequency = parse_list_expression(v.text("moe_layer_freq"));
  std::vector<bool> result;
  for (const Index entry : frequency.entries) {
    result.push_back(entry != 0);
  }
  for (Index layer = 0; !frequency.is_list && frequency.number > 0 && layer < layers; ++layer) {
    result.push_back(layer % frequency.number == 0);
  }
  return result;
}

/// Returns nothing where logits are in the type of the activations.
std::optional<DType> router_dtype(const OptionValues& v) {
  const std::optional<std::string> word = v.maybe_text("moe_router_dtype");
  if (!word) {
    return std::nullopt;
  }
  return pick<DType>(*word, {{"fp32", DType::f32}, {"fp64", DType::f64}});
}

/// Pairs losses and their coefficients by place; losses of coefficient 0 are dropped.
void resolve_balance(MoeConfig& moe, const OptionValues& v) {
  const std::vector<std::string> kinds = v.words("moe_router_load_balancing_type");
  const std::vector<std::string> coefficients = v.words("moe_aux_loss_coeff");
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    moe.sinkhorn = moe.sinkhorn || kinds[i] == "sinkhorn";
    const double coefficient =
        i < coefficients.size() ? read_real(coefficients[i]).value_or(0) : 0.0;
    if (coefficient > 0 && kinds[i].ends_with("aux_loss")) {
      const auto kind =
          pick<RouterBalancing>(kinds[i], {{"aux_loss", RouterBalancing::aux_loss},
                                           {"seq_aux_loss", RouterBalancing::seq_aux_loss},
                                           {"global_aux_loss", RouterBalancing::global_aux_loss}});
      moe.balancing_losses.push_back({kind, coefficient});
    }
  }
  moe.z_loss_coefficient = v.maybe_real("moe_z_loss_coeff").value_or(0);
}

/// Sets how a token chooses its experts.
void resolve_router(MoeConfig& moe, const OptionValues& v) {
  moe.topk = v.integer("moe_router_topk");
  moe.router_dtype = router_dtype(v);
  moe.score = pick<RouterScore>(v.text("moe_router_score_function"),
                                {{"softmax", RouterScore::softmax},
                                 {"sigmoid", RouterScore::sigmoid},
                                 {"sqrtsoftplus", RouterScore::sqrt_softplus}});
  moe.pre_softmax = v.flag("moe_router_pre_softmax");
  moe.num_groups = v.maybe_integer("moe_router_num_groups");
  moe.group_topk = v.maybe_integer("moe_router_group_topk");
  moe.topk_scaling_factor = v.maybe_real("moe_router_topk_scaling_factor");
  moe.expert_bias = v.flag("moe_router_enable_expert_bias");
  moe.bias_update_rate = v.real("moe_router_bias_update_rate");
  moe.force_load_balancing = v.flag("moe_router_force_load_balancing");
  moe.input_jitter_eps = v.maybe_real("moe_input_jitter_eps");
}

}  // namespace

/// Returns nothing without --num-experts; the width of an expert was derived from the MLP's.
std::optional<MoeConfig> resolve_moe(const OptionValues& v) {
  if (!v.has("num_experts")) {
    return std::nullopt;
  }
  MoeConfig moe;
  moe.num_experts = v.integer("num_experts");
  moe.layers = moe_layers(v, v.maybe_integer("num_layers").value_or(0));
  moe.ffn_hidden_size = v.maybe_integer("moe_ffn_hidden_size").value_or(0);
  moe.shared_expert_intermediate_size =
      v.maybe_integer("moe_shared_expert_intermediate_size").value_or(0);
  moe.shared_expert_gate = v.flag("moe_shared_expert_gate");
  resolve_router(moe, v);
  resolve_balance(moe, v);
  moe.capacity_factor = v.maybe_real("moe_expert_capacity_factor");
  moe.pad_to_capacity = v.flag("moe_pad_expert_input_to_capacity");
  moe.drop_policy = pick<TokenDropPolicy>(
      v.text("moe_token_drop_policy"),
      {{"probs", TokenDropPolicy::probs}, {"position", TokenDropPolicy::position}});
  const std::string dispatcher = v.text("moe_token_dispatcher_type");
  moe.dispatcher =
      dispatcher == "alltoall" ? TokenDispatcherType::alltoall : TokenDispatcherType::allgather;
  moe.apply_probs_on_input = v.flag("moe_apply_probs_on_input");
  moe.shared_expert_overlap = v.flag("moe_shared_expert_overlap");
  return moe;
}

}  // namespace mpitron::config
