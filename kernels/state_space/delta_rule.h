#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// The gated delta rule (Yang et al. 2025): a value head has a state [k, v], 0 before the sequence,
// which forgets, and corrects what it says of a key,
//   S_i = e^g_i S_(i-1);  S_i += k_i (beta_i (v_i - S_i^T k_i))^T;  o_i = S_i^T q_i / sqrt(k),
// with g = -exp(A_log) softplus(alpha + dt_bias), beta = sigmoid of what is given, and q and k
// divided by sqrt(|x|^2 + 1e-6). Key head j / (value heads / key heads) serves value head j. With
// `starts` S is 0 before each document.
//
// Numerical contract
//   rows:       views have any strides but a contiguous last dimension
//   types:      inputs, o and gradients of one type: fp32, bf16, fp16, fp64; a_log and dt_bias of
//               any of these; states fp32 (fp64 with fp64)
//   arithmetic: fp32 (fp64: double; reference: double, position by position), in chunks whose
//               positions meet in products and a triangular system; decays, and with bf16 factors
//               of products, as in selective_scan.h
//   order:      sums over value heads, positions, chunks and samples, fixed by the shapes
//   outputs:    `=`; da_log, ddt_bias `+=` with accumulate

/// What both directions read.
struct DeltaRuleInputs {
  In q, k;            // [s, b, key heads k]
  In v;               // [s, b, value heads v]
  In beta, alpha;     // [s, b, value heads]
  In a_log, dt_bias;  // [value heads]
  In starts;          // [s, b], i32, optional: the first position of each one's document
  Index key_heads = 1;

  Index value_heads() const { return a_log.size(0); }
  Index key_dim() const { return q.size(-1) / key_heads; }
  Index value_dim() const { return v.size(-1) / value_heads(); }
  Index served() const { return value_heads() / key_heads; }
  template <class F>
  void views(F&& f) const {
    f("q", q), f("k", k), f("v", v), f("beta", beta), f("alpha", alpha), f("a_log", a_log);
    f("dt_bias", dt_bias), f("starts", starts);
  }
};

struct DeltaRuleForward {
  static constexpr const char* name = "delta_rule_forward";
  DeltaRuleInputs in;
  Out o;       // [s, b, value heads v]
  Out states;  // [chunks b, value heads, k, v]: before each chunk
  Index chunk = 64;
  Out workspace;

  template <class F>
  void views(F&& f) const {
    in.views(f), f("o", o), f("states", states);
  }
};

struct DeltaRuleBackward {
  static constexpr const char* name = "delta_rule_backward";
  DeltaRuleInputs in;
  In d_o;                         // [s, b, value heads v]
  In states;                      // of the forward pass
  Out dq, dk, dv, dbeta, dalpha;  // as the inputs
  InOut da_log, ddt_bias;         // [value heads]
  Index chunk = 64;
  bool accumulate = false;
  Out workspace;

  template <class F>
  void views(F&& f) const {
    in.views(f), f("d_o", d_o), f("states", states), f("dq", dq), f("dk", dk), f("dv", dv);
    f("dbeta", dbeta), f("dalpha", dalpha), f("da_log", da_log), f("ddt_bias", ddt_bias);
  }
};

void run(device::ReferenceStream&, const DeltaRuleForward&);
void run(device::ReferenceStream&, const DeltaRuleBackward&);
void run(device::HostStream&, const DeltaRuleForward&);
void run(device::HostStream&, const DeltaRuleBackward&);
void run(device::CudaStream&, const DeltaRuleForward&);
void run(device::CudaStream&, const DeltaRuleBackward&);
Index workspace_bytes(const device::CudaStream&, const DeltaRuleForward&);
Index workspace_bytes(const device::CudaStream&, const DeltaRuleBackward&);

}  // namespace mpitron::kernels
