#pragma once

#include "device/streams.h"
#include "device/tensor_view.h"
#include "kernels/experts/router.h"

namespace mpitron::kernels {

// Losses that keep a router in shape. The tokens of [t, E] belong to sets: row r to set r % g (the
// samples of a microbatch), or all to one.
//
// Numerical contract: types as router.h; counts and losses fp64. Rows in fp32 (fp64 where
// the logits are; reference: double), sums over rows in fp64, in order. Outputs `=`.

/// The scores that balancing losses see: softmax of all logits, or their own scores (sigmoid,
/// sqrt_softplus) divided by (their sum + 1e-20), for any topk.
struct BalanceRule {
  RouterScore score = RouterScore::softmax;
  Index topk = 1;
};

/// How many tokens of each set have each expert among the topk best by their scores.
struct BalanceCounts {
  static constexpr const char* name = "balance_counts";
  In logits;   // [t, E]
  Out counts;  // [g, E]
  Out workspace;
  BalanceRule rule;

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("counts", counts);
  }
};

/// loss = factor * sum over r, e of counts[r % g, e] * score[r, e] (Fedus et al. 2022).
struct BalanceLoss {
  static constexpr const char* name = "balance_loss";
  In logits;  // [t, E]
  In counts;  // [g, E]
  Out loss;   // [1]
  Out workspace;
  BalanceRule rule;
  double factor = 1;

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("counts", counts), f("loss", loss);
  }
};

/// The counts are constants.
struct BalanceLossBackward {
  static constexpr const char* name = "balance_loss_backward";
  In logits;    // [t, E]
  In counts;    // [g, E]
  In dloss;     // [1]
  Out dlogits;  // [t, E]
  BalanceRule rule;
  double factor = 1;

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("dloss", dloss), f("dlogits", dlogits);
  }
};

/// loss = factor * sum over rows of (ln sum e^logit)^2 (Zoph et al. 2022).
struct RouterZLoss {
  static constexpr const char* name = "router_z_loss";
  In logits;  // [t, E]
  Out loss;   // [1]
  Out workspace;
  double factor = 1;

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("loss", loss);
  }
};

struct RouterZLossBackward {
  static constexpr const char* name = "router_z_loss_backward";
  In logits;    // [t, E]
  In dloss;     // [1]
  Out dlogits;  // [t, E]
  double factor = 1;

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("dloss", dloss), f("dlogits", dlogits);
  }
};

void run(device::ReferenceStream&, const BalanceCounts&);
void run(device::ReferenceStream&, const BalanceLoss&);
void run(device::ReferenceStream&, const BalanceLossBackward&);
void run(device::ReferenceStream&, const RouterZLoss&);
void run(device::ReferenceStream&, const RouterZLossBackward&);
void run(device::HostStream&, const BalanceCounts&);
void run(device::HostStream&, const BalanceLoss&);
void run(device::HostStream&, const BalanceLossBackward&);
void run(device::HostStream&, const RouterZLoss&);
void run(device::HostStream&, const RouterZLossBackward&);
void run(device::CudaStream&, const BalanceCounts&);
void run(device::CudaStream&, const BalanceLoss&);
void run(device::CudaStream&, const BalanceLossBackward&);
void run(device::CudaStream&, const RouterZLoss&);
void run(device::CudaStream&, const RouterZLossBackward&);
Index workspace_bytes(const device::HostStream&, const BalanceCounts&);
Index workspace_bytes(const device::HostStream&, const BalanceLoss&);
Index workspace_bytes(const device::HostStream&, const RouterZLoss&);
Index workspace_bytes(const device::CudaStream&, const BalanceCounts&);
Index workspace_bytes(const device::CudaStream&, const BalanceLoss&);
Index workspace_bytes(const device::CudaStream&, const RouterZLoss&);

using device::In;
using device::InOut;
using device::Out;

/// bias[e] += rate * sign(mean of tokens - tokens[e]): experts with few tokens become more likely
/// (Wang et al. 2024).
///
/// Numerical contract: tokens fp64, bias fp32; the reference's fp32 arithmetic, bit for bit.
struct ExpertBiasUpdate {
  static constexpr const char* name = "expert_bias_update";
  In tokens;   // [E]
  InOut bias;  // [E]
  float rate = 0;

  template <class F>
  void views(F&& f) const {
    f("tokens", tokens), f("bias", bias);
  }
};

void run(device::ReferenceStream&, const ExpertBiasUpdate&);
void run(device::HostStream&, const ExpertBiasUpdate&);
void run(device::CudaStream&, const ExpertBiasUpdate&);

}  // namespace mpitron::kernels
