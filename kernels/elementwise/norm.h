#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// Numerical contract of all four kernels
//   rows:         x, y, dy, dx are [..., h] of rank 2 or 3 with any strides but a contiguous last
//                 dimension; t counts rows over the leading dimensions (heads of a fused qkv are
//                 rank 3)
//   types:        x, dx, dx_add of one type, y, dy of another (or the same): fp32, bf16, fp16
//                 (reference: also fp64); gamma, beta fp32 or as y; statistics fp32; dgamma, dbeta
//                 fp32 or as gamma
//   accumulation: fp32 (reference: double) within a row; dgamma, dbeta over fixed blocks of rows,
//                 added in order
//   gamma:        effective gamma = gamma + gamma_offset (1 for zero-centred weights,
//                 `--apply-layernorm-1p`)
//   outputs:      `=`; dgamma, dbeta `+=` with accumulate; dx = gradient + dx_add (dx_add may be dx
//                 itself)

/// y = x / sqrt(mean(x^2) + eps) * gamma (Zhang and Sennrich 2019). Without gamma: the plain RMS
/// norm.
struct RmsNormForward {
  static constexpr const char* name = "rms_norm_forward";
  In x;      // [t, h]
  In gamma;  // [h], optional
  Out y;     // [t, h]
  Out rstd;  // [t], fp32
  float eps = 1e-5f;
  float gamma_offset = 0;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("gamma", gamma), f("y", y), f("rstd", rstd);
  }
};

/// dx = rstd (g - normal mean(g normal)) with g = dy gamma, normal = x rstd; dgamma = sum over rows
/// of dy normal.
struct RmsNormBackward {
  static constexpr const char* name = "rms_norm_backward";
  In x, dy;      // [t, h]
  In gamma;      // [h], optional
  In rstd;       // [t], fp32
  In dx_add;     // [t, h], optional
  Out dx;        // [t, h]
  InOut dgamma;  // [h], absent without gamma
  Out workspace;
  float gamma_offset = 0;
  bool accumulate = false;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("dy", dy), f("gamma", gamma), f("rstd", rstd), f("dx_add", dx_add), f("dx", dx),
        f("dgamma", dgamma);
  }
};

/// y = (x - mean) / sqrt(variance + eps) * gamma + beta, biased variance (Ba et al. 2016).
struct LayerNormForward {
  static constexpr const char* name = "layer_norm_forward";
  In x;            // [t, h]
  In gamma, beta;  // [h]
  Out y;           // [t, h]
  Out mean, rstd;  // [t], fp32
  float eps = 1e-5f;
  float gamma_offset = 0;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("gamma", gamma), f("beta", beta), f("y", y), f("mean", mean), f("rstd", rstd);
  }
};

/// dx = rstd (g - mean(g) - normal mean(g normal)) with g = dy gamma; dgamma = sum of dy normal,
/// dbeta = sum of dy.
struct LayerNormBackward {
  static constexpr const char* name = "layer_norm_backward";
  In x, dy;             // [t, h]
  In gamma;             // [h]
  In mean, rstd;        // [t], fp32
  In dx_add;            // [t, h], optional
  Out dx;               // [t, h]
  InOut dgamma, dbeta;  // [h]
  Out workspace;
  float gamma_offset = 0;
  bool accumulate = false;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("dy", dy), f("gamma", gamma), f("mean", mean), f("rstd", rstd),
        f("dx_add", dx_add), f("dx", dx);
    f("dgamma", dgamma), f("dbeta", dbeta);
  }
};

void run(device::ReferenceStream&, const RmsNormForward&);
void run(device::ReferenceStream&, const RmsNormBackward&);
void run(device::ReferenceStream&, const LayerNormForward&);
void run(device::ReferenceStream&, const LayerNormBackward&);
void run(device::HostStream&, const RmsNormForward&);
void run(device::HostStream&, const RmsNormBackward&);
void run(device::HostStream&, const LayerNormForward&);
void run(device::HostStream&, const LayerNormBackward&);
void run(device::CudaStream&, const RmsNormForward&);
void run(device::CudaStream&, const RmsNormBackward&);
void run(device::CudaStream&, const LayerNormForward&);
void run(device::CudaStream&, const LayerNormBackward&);
Index workspace_bytes(const device::HostStream&, const RmsNormBackward&);
Index workspace_bytes(const device::HostStream&, const LayerNormBackward&);
Index workspace_bytes(const device::CudaStream&, const RmsNormBackward&);
Index workspace_bytes(const device::CudaStream&, const LayerNormBackward&);

}  // namespace mpitron::kernels
