#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::Out;

// Eigenvectors of symmetric matrices without negative eigenvalues: of a new one, and of one that
// has changed a little since its last.
//
// Numerical contract of both
//   types:      fp64, contiguous; order int64
//   arithmetic: fp64, in an order that depends on the shape alone: the bits do not depend on the
//               number of threads
//   outputs:    `=`; vectors are rows, of length 1 and orthogonal to rounding

/// Eigenvectors by descending eigenvalue, the largest element of each positive. Where eigenvalues
/// are 0 (up to 1e-12 of the largest) any basis would do: theirs are eigenvectors, there, of a
/// diagonal matrix of ascending numbers, so that rounding of x does not turn them.
struct Eigenvectors {
  static constexpr const char* name = "eigenvectors";
  In x;           // [n, n]
  Out vectors;    // [n, n]
  Out present;    // [n]: 0 for vectors whose eigenvalue is 0, else 1
  Out workspace;  // [n, n], fp64

  template <class F>
  void views(F&& f) const {
    f("x", x), f("vectors", vectors), f("present", present), f("workspace", workspace);
  }
};

/// A step of orthogonal iteration (Golub and Van Loan, 8.2.4): old vectors by descending Rayleigh
/// quotient, multiplied by x and made orthogonal in this order. A product that lies in the space of
/// those before it (up to 1e-13 of the longest) tells nothing: the old vector itself takes its
/// place, or where that lies there as well the first unit vector that does not.
struct EigenvectorStep {
  static constexpr const char* name = "eigenvector_step";
  In vectors;     // [n, n]
  In products;    // [n, n]: vectors x
  Out next;       // [n, n]
  Out order;      // [n]: of which old vector each one comes
  Out present;    // [n]: 0 for vectors that are no product, else 1
  Out workspace;  // [n], fp64

  template <class F>
  void views(F&& f) const {
    f("vectors", vectors), f("products", products), f("next", next);
    f("order", order), f("present", present), f("workspace", workspace);
  }
};

void run(device::ReferenceStream&, const Eigenvectors&);
void run(device::ReferenceStream&, const EigenvectorStep&);
void run(device::HostStream&, const Eigenvectors&);
void run(device::HostStream&, const EigenvectorStep&);

}  // namespace mpitron::kernels
