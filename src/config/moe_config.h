#pragma once
#include <optional>
#include <vector>

#include "utils/numbers/dtype.h"
#include "utils/numbers/shape.h"

namespace mpitron::config {

/// The function that makes a router's logits to scores.
enum class RouterScore { softmax, sigmoid, sqrt_softplus };
/// Ways to keep experts evenly used, beside a router's expert bias.
enum class RouterBalancing { aux_loss, seq_aux_loss, sinkhorn, global_aux_loss };
/// Which tokens an expert beyond its capacity drops: those of the smallest scores, or the last
/// ones.
enum class TokenDropPolicy { probs, position };
/// How tokens travel: every token to every rank, or each to the ranks of its experts alone.
enum class TokenDispatcherType { allgather, alltoall };

/// A loss that balances the experts, and its weight.
struct BalancingLoss {
  RouterBalancing kind = RouterBalancing::aux_loss;
  double coefficient = 0;
};

/// How a token chooses its experts, and what keeps them evenly used.
struct RouterConfig {
  Index topk = 2;
  std::optional<DType> router_dtype;  // of the logits; unset: the activations'
  RouterScore score = RouterScore::softmax;
  bool pre_softmax = false;
  std::optional<Index> num_groups, group_topk;
  std::optional<double> topk_scaling_factor;
  bool expert_bias = false;
  double bias_update_rate = 0.001;
  bool force_load_balancing = false;
  std::optional<double> input_jitter_eps;
  // balance
  bool sinkhorn = false;
  std::vector<BalancingLoss> balancing_losses;  // those with a coefficient above 0
  double z_loss_coefficient = 0;
};

/// Layers with experts, resolved. Names are the reference's; counts are global.
struct MoeConfig : RouterConfig {
  Index num_experts = 0;
  std::vector<bool> layers;                   // of each layer of the model: whether it has experts
  Index ffn_hidden_size = 0;                  // of an expert; derived: the dense layers'
  Index shared_expert_intermediate_size = 0;  // 0: no shared expert
  bool shared_expert_gate = false;

  // capacity
  std::optional<double> capacity_factor;
  bool pad_to_capacity = false;
  TokenDropPolicy drop_policy = TokenDropPolicy::probs;

  TokenDispatcherType dispatcher = TokenDispatcherType::allgather;
  bool apply_probs_on_input = false;
  bool shared_expert_overlap = false;  // the shared expert runs while tokens travel

  /// Returns how many of the model's layers have experts.
  Index count_layers() const {
    Index count = 0;
    for (const bool experts : layers) {
      count += experts ? 1 : 0;
    }
    return count;
  }
};

}  // namespace mpitron::config
