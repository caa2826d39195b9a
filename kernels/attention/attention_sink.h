#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;

// A softmax with one more logit for each head, its sink, whose column has no value (Miller 2023;
// Xiao et al. 2024): p_k = e^l_k / (e^sink + sum e^l). Attention without it, and then these.
//
// Numerical contract
//   types:      o and d_o fp32, bf16, fp16 (reference: also fp64); lse fp32 (fp64 with fp64);
//               sink of any of these types; contiguous
//   arithmetic: fp32 (reference: double); o is rounded once more
//   order:      dsink in double, by samples, then by positions (GPU: by warps that share a head)
//   outputs:    o and lse in place; dsink `=`, or `+=` with accumulate

/// lse = log(e^lse + e^sink), and o times what that leaves of each probability. With these o and
/// lse the backward pass of attention is that of the softmax with the sink.
struct AttentionSinkForward {
  static constexpr const char* name = "attention_sink_forward";
  InOut o;               // [s, b, n, dv]
  InOut lse;             // [b, n, s]
  In sink;               // [all heads of the layer here]; absent: 0 for every head
  Index first_head = 0;  // of `sink`, for head 0 of o

  template <class F>
  void views(F&& f) const {
    f("o", o), f("lse", lse), f("sink", sink);
  }
};

/// dsink[h] = - sum over samples and positions of e^(sink - lse) (o . d_o); 0 for heads that o has
/// not. o and lse: with the sink.
struct AttentionSinkBackward {
  static constexpr const char* name = "attention_sink_backward";
  In o, d_o;    // [s, b, n, dv]
  In lse;       // [b, n, s]
  In sink;      // [all heads]
  InOut dsink;  // [all heads]
  Index first_head = 0;
  bool accumulate = false;

  template <class F>
  void views(F&& f) const {
    f("o", o), f("d_o", d_o), f("lse", lse), f("sink", sink), f("dsink", dsink);
  }
};

void run(device::ReferenceStream&, const AttentionSinkForward&);
void run(device::ReferenceStream&, const AttentionSinkBackward&);
void run(device::HostStream&, const AttentionSinkForward&);
void run(device::HostStream&, const AttentionSinkBackward&);
void run(device::CudaStream&, const AttentionSinkForward&);
void run(device::CudaStream&, const AttentionSinkBackward&);

}  // namespace mpitron::kernels
