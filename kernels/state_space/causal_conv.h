#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// A depthwise convolution along the sequence that sees no later position, and SiLU behind it:
// y[i] = silu(bias + sum over k of weight[k] x[i - w + 1 + k]), where x is 0 before the sequence
// and, with `starts`, before the document of position i.
//
// Numerical contract
//   rows:       x, y, dy, dx are [s, b, c] with any strides but a contiguous last dimension
//   types:      x, y, dy, dx of one type, fp32, bf16 or fp16 (reference: also fp64); weight and
//               bias of any of these
//   arithmetic: fp32 (reference: double), one rounding at the end
//   order:      dweight and dbias by samples, in fp32 within blocks of 32 positions (reference:
//               double), in double over blocks
//   outputs:    `=`; dweight and dbias `+=` with accumulate

struct CausalConvForward {
  static constexpr const char* name = "causal_conv_forward";
  In x;       // [s, b, c]
  In weight;  // [c, 1, w]
  In bias;    // [c], optional
  In starts;  // [s, b], i32, optional: the first position of each one's document
  Out y;      // [s, b, c]

  template <class F>
  void views(F&& f) const {
    f("x", x), f("weight", weight), f("bias", bias), f("starts", starts), f("y", y);
  }
};

struct CausalConvBackward {
  static constexpr const char* name = "causal_conv_backward";
  In x, dy;       // [s, b, c]
  In weight;      // [c, 1, w]
  In bias;        // [c], optional
  In starts;      // [s, b], i32, optional
  Out dx;         // [s, b, c]
  InOut dweight;  // [c, 1, w]
  InOut dbias;    // [c], absent without bias
  bool accumulate_weight = false, accumulate_bias = false;
  Out workspace;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("dy", dy), f("weight", weight), f("bias", bias);
    f("starts", starts), f("dx", dx);
    f("dweight", dweight), f("dbias", dbias);
  }
};

void run(device::ReferenceStream&, const CausalConvForward&);
void run(device::ReferenceStream&, const CausalConvBackward&);
void run(device::HostStream&, const CausalConvForward&);
void run(device::HostStream&, const CausalConvBackward&);
void run(device::CudaStream&, const CausalConvForward&);
void run(device::CudaStream&, const CausalConvBackward&);
Index workspace_bytes(const device::CudaStream&, const CausalConvBackward&);

}  // namespace mpitron::kernels
