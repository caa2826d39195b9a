#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// A gate and an RMS norm of each of `groups` runs of a row, in either order:
//   gate_first:     r = x silu(z); y = r / sqrt(mean(r^2) + eps) weight  (Mamba-2: Dao and Gu 2024)
//   not gate_first: y = x / sqrt(mean(x^2) + eps) weight silu(z)         (gated delta net)
//
// Numerical contract
//   types:      x, z, y, dy, dx, dz of one type, fp32, bf16 or fp16 (reference: also fp64), with
//               contiguous last dimension; weight of any of these; rstd fp32
//   arithmetic: fp32 (reference: double); r is rounded to x's type
//   order:      dweight over fixed blocks of rows, added in order
//   outputs:    `=`; dweight `+=` with accumulate; dx may be dy

struct GatedNormForward {
  static constexpr const char* name = "gated_norm_forward";
  In x, z;    // [t, f]
  In weight;  // [f]
  Out y;      // [t, f]
  Out rstd;   // [t, groups], fp32
  Index groups = 1;
  float eps = 1e-5f;
  bool gate_first = true;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("z", z), f("weight", weight), f("y", y), f("rstd", rstd);
  }
};

struct GatedNormBackward {
  static constexpr const char* name = "gated_norm_backward";
  In x, z, dy;    // [t, f]
  In weight;      // [f]
  In rstd;        // [t, groups]
  Out dx, dz;     // [t, f]
  InOut dweight;  // [f]
  Out workspace;
  Index groups = 1;
  bool gate_first = true;
  bool accumulate = false;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("z", z), f("dy", dy), f("weight", weight), f("rstd", rstd);
    f("dx", dx), f("dz", dz), f("dweight", dweight);
  }
};

void run(device::ReferenceStream&, const GatedNormForward&);
void run(device::ReferenceStream&, const GatedNormBackward&);
void run(device::HostStream&, const GatedNormForward&);
void run(device::HostStream&, const GatedNormBackward&);
void run(device::CudaStream&, const GatedNormForward&);
void run(device::CudaStream&, const GatedNormBackward&);
Index workspace_bytes(const device::HostStream&, const GatedNormBackward&);
Index workspace_bytes(const device::CudaStream&, const GatedNormBackward&);

}  // namespace mpitron::kernels
