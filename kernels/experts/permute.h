#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// Numerical contract of the kernels of this page
//   types:   fp32, bf16, fp16 (reference: also fp64); rows i64; factors fp32 (reference: also fp64)
//   order:   what comes to one row is added in the order of the places it comes from, in fp32
//            (reference: double), and rounded once
//   outputs: `=`

/// y[i] = x[rows[i]]; zeros where rows[i] is negative.
struct Permute {
  static constexpr const char* name = "permute";
  In x;     // [t, h]
  In rows;  // [n]
  Out y;    // [n, h]

  template <class F>
  void views(F&& f) const {
    f("x", x), f("rows", rows), f("y", y);
  }
};

/// x[r] = the sum of y[i] over all i with rows[i] = r.
struct Unpermute {
  static constexpr const char* name = "unpermute";
  In y;     // [n, h]
  In rows;  // [n]
  Out x;    // [t, h]
  Out workspace;

  template <class F>
  void views(F&& f) const {
    f("y", y), f("rows", rows), f("x", x);
  }
};

/// y[i] = x[i] * factors[i].
struct ScaleRows {
  static constexpr const char* name = "scale_rows";
  In x;        // [n, h]
  In factors;  // [n]
  Out y;       // [n, h], may be x

  template <class F>
  void views(F&& f) const {
    f("x", x), f("factors", factors), f("y", y);
  }
};

/// dx[i] = dy[i] * factors[i], dfactors[i] = the product of dy[i] and x[i].
struct ScaleRowsBackward {
  static constexpr const char* name = "scale_rows_backward";
  In dy;         // [n, h]
  In x;          // [n, h]
  In factors;    // [n]
  Out dx;        // [n, h], may be dy
  Out dfactors;  // [n]

  template <class F>
  void views(F&& f) const {
    f("dy", dy), f("x", x), f("factors", factors), f("dx", dx), f("dfactors", dfactors);
  }
};

void run(device::ReferenceStream&, const Permute&);
void run(device::ReferenceStream&, const Unpermute&);
void run(device::ReferenceStream&, const ScaleRows&);
void run(device::ReferenceStream&, const ScaleRowsBackward&);
void run(device::HostStream&, const Permute&);
void run(device::HostStream&, const Unpermute&);
void run(device::HostStream&, const ScaleRows&);
void run(device::HostStream&, const ScaleRowsBackward&);
void run(device::CudaStream&, const Permute&);
void run(device::CudaStream&, const Unpermute&);
void run(device::CudaStream&, const ScaleRows&);
void run(device::CudaStream&, const ScaleRowsBackward&);
Index workspace_bytes(const device::HostStream&, const Unpermute&);
Index workspace_bytes(const device::CudaStream&, const Unpermute&);

}  // namespace mpitron::kernels
