#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"
#include "utils/numbers/shape.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

/// sqrt_softplus: sqrt(ln(1 + e^x)).
enum class RouterScore { softmax, sigmoid, sqrt_softplus };

/// How a router's logits become experts and probabilities (--moe-router-* of the reference).
struct RoutingRule {
  RouterScore score = RouterScore::softmax;
  bool pre_softmax = false;          // softmax over all experts, not over the chosen ones
  Index groups = 1, group_topk = 1;  // experts outside the best groups are not chosen
  double scaling = 1;                // of the probabilities
};

// Numerical contract of the kernels of this page
//   types:        logits fp32, bf16, fp16, fp64; probabilities and their gradients fp32, or fp64
//                 like the logits; experts i64; expert_bias fp32
//   accumulation: fp32, fp64 where the logits are (reference: double); rows are independent
//   order:        experts of a token by falling score, equal ones by rising index
//   outputs:      `=`

/// The k experts of every token and their probabilities:
///   softmax:      of the logits of the chosen experts
///   pre-softmax:  of all logits, those of the chosen experts
///   sigmoid:      of the chosen logits, divided by (their sum + 1e-20) where k > 1
///   sqrt_softplus: the same with this score
/// times `scaling`. Chosen are the k largest of `chosen_by`, else of the logits (softmax), of the
/// softmax (pre-softmax) or of sigmoid or sqrt_softplus + expert_bias.
/// With groups, of consecutive experts, only the
/// `group_topk` groups with the largest sum of their k / group_topk best scores take part.
struct TopKRouting {
  static constexpr const char* name = "topk_routing";
  In logits;          // [t, E]
  In chosen_by;       // [t, E], fp32, optional
  In expert_bias;     // [E], optional
  Out experts;        // [t, k]
  Out probabilities;  // [t, k]
  RoutingRule rule;

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("probabilities", probabilities);
  }
};

/// dlogits of TopKRouting for fixed experts.
struct TopKRoutingBackward {
  static constexpr const char* name = "topk_routing_backward";
  In logits;          // [t, E]
  In experts;         // [t, k]
  In dprobabilities;  // [t, k]
  Out dlogits;        // [t, E]
  RoutingRule rule;

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("dprobabilities", dprobabilities), f("dlogits", dlogits);
  }
};

/// Balanced scores (Sinkhorn and Knopp 1967; Clark et al. 2022): diag(d0) exp(logits) diag(d1), d0
/// and d1 alternately set to 1 / (t (sum of the row + 1e-8)) and 1 / (E (sum of the column +
/// 1e-8)) until d1 moves by no more than `tolerance` on average. Sums over tokens in order.
struct Sinkhorn {
  static constexpr const char* name = "sinkhorn";
  In logits;   // [t, E]
  Out scores;  // [t, E], fp32
  Out workspace;
  double tolerance = 1e-4;

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("scores", scores);
  }
};

void run(device::ReferenceStream&, const TopKRouting&);
void run(device::ReferenceStream&, const TopKRoutingBackward&);
void run(device::ReferenceStream&, const Sinkhorn&);
void run(device::HostStream&, const TopKRouting&);
void run(device::HostStream&, const TopKRoutingBackward&);
void run(device::HostStream&, const Sinkhorn&);
void run(device::CudaStream&, const TopKRouting&);
void run(device::CudaStream&, const TopKRoutingBackward&);
void run(device::CudaStream&, const Sinkhorn&);
Index workspace_bytes(const device::HostStream&, const Sinkhorn&);
Index workspace_bytes(const device::CudaStream&, const Sinkhorn&);

}  // namespace mpitron::kernels
