#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// The scan of Mamba-2 (Dao and Gu 2024): head j of group j / (heads / groups) has a state of
// [n, p] numbers, 0 before the sequence,
//   S_i = exp(dt_i A) S_(i-1) + dt_i B_i x_i^T,   y_i = S_i^T C_i + D x_i,
// with dt = softplus(raw dt + bias) and A = -exp(A_log). With `starts` the state is 0 before each
// document. Kernels compute it in chunks, whose positions meet in matrix products.
//
// Numerical contract
//   rows:       x, b, c, dt, y and their gradients have any strides but a contiguous last dimension
//   types:      x, b, c, dt, y and gradients of one type: fp32, bf16, fp16, fp64; a_log, d, dt_bias
//               of any of these; states fp32 (fp64 with fp64)
//   arithmetic: fp32 (fp64: double; reference: double); logarithms of decays are summed in double
//               within a chunk, and only differences of later minus earlier ones are raised
//               (on the host to 0 where the decay is less than e^-69, in fp64 than e^-690); with
//               bf16 the host's matrix units may take fp32 factors as sums of two bf16, to 2^-17,
//               without the product of the smaller parts
//   order:      sums over heads, chunks and samples in their order; fixed by the shapes
//   outputs:    `=`; da_log, dd, ddt_bias `+=` with accumulate

/// What both directions read.
struct ScanInputs {
  In x;                  // [s, b, heads p]
  In b, c;               // [s, b, groups n]
  In dt;                 // [s, b, heads], before softplus
  In a_log, d, dt_bias;  // [heads]
  In starts;             // [s, b], i32, optional: the first position of each one's document
  Index groups = 1;

  Index heads() const { return a_log.size(0); }
  Index head_dim() const { return x.size(-1) / heads(); }
  Index state_dim() const { return b.size(-1) / groups; }
  Index heads_of_group() const { return heads() / groups; }
  template <class F>
  void views(F&& f) const {
    f("x", x), f("b", b), f("c", c), f("dt", dt), f("a_log", a_log), f("d", d);
    f("dt_bias", dt_bias), f("starts", starts);
  }
};

struct SelectiveScanForward {
  static constexpr const char* name = "selective_scan_forward";
  ScanInputs in;
  Out y;       // [s, b, heads p]
  Out states;  // [chunks b, heads, n, p]: before each chunk
  Index chunk = 128;
  Out workspace;

  template <class F>
  void views(F&& f) const {
    in.views(f), f("y", y), f("states", states);
  }
};

struct SelectiveScanBackward {
  static constexpr const char* name = "selective_scan_backward";
  ScanInputs in;
  In dy;                       // [s, b, heads p]
  In states;                   // of the forward pass
  Out dx, db, dc, ddt;         // as x, b, c, dt
  InOut da_log, dd, ddt_bias;  // [heads]
  Index chunk = 128;
  bool accumulate = false;
  Out workspace;

  template <class F>
  void views(F&& f) const {
    in.views(f), f("dy", dy), f("states", states), f("dx", dx), f("db", db), f("dc", dc);
    f("ddt", ddt), f("da_log", da_log), f("dd", dd), f("ddt_bias", ddt_bias);
  }
};

void run(device::ReferenceStream&, const SelectiveScanForward&);
void run(device::ReferenceStream&, const SelectiveScanBackward&);
void run(device::HostStream&, const SelectiveScanForward&);
void run(device::HostStream&, const SelectiveScanBackward&);
void run(device::CudaStream&, const SelectiveScanForward&);
void run(device::CudaStream&, const SelectiveScanBackward&);
Index workspace_bytes(const device::HostStream&, const SelectiveScanBackward&);
Index workspace_bytes(const device::CudaStream&, const SelectiveScanForward&);
Index workspace_bytes(const device::CudaStream&, const SelectiveScanBackward&);

}  // namespace mpitron::kernels
