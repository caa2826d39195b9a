#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// What SOAP (Vyas et al. 2024) does beside products and eigenvectors.
//
// Numerical contract
//   types:      fp64, contiguous; orders int64
//   arithmetic: fp64, element by element; a row's eigenvalue is a sum in a fixed order
//   outputs:    `=`; the average in place

/// average = beta average + (1 - beta) x.
struct WideAverage {
  static constexpr const char* name = "wide_average";
  InOut average;
  In x;
  double beta = 0;

  template <class F>
  void views(F&& f) const {
    f("average", average), f("x", x);
  }
};

/// y[i] = x[i] / sqrt(m max(eigenvalue[i], eps)) of m eigenvalues, vectors[i] products[i] each; 0
/// without them, and below 1e-13 of the largest. y^T y is what KL-Shampoo (Lin et al. 2025)
/// averages for the other side.
struct WhitenRows {
  static constexpr const char* name = "whiten_rows";
  In x;                  // [m, n]; any number of rows without vectors
  In vectors, products;  // [m, m], optional
  Out values;            // [m]
  Out y;                 // as x
  double eps = 1e-8;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("vectors", vectors), f("products", products), f("values", values), f("y", y);
  }
};

/// Adam among eigenvectors: squares of row i and column j come from row row_order[i] and column
/// column_order[j] of the old ones;
///   next = beta2 squares + (1 - beta2) gradient^2
///   direction = average / correction1 / (sqrt(next / correction2) + eps)
/// Rows and columns whose vectors are not present, because no gradient was ever along them, have no
/// direction: what they hold is rounding.
struct SoapDirection {
  static constexpr const char* name = "soap_direction";
  In gradient, average, squares;   // [m, n]
  In row_order, column_order;      // [m], [n]; optional, both or none
  In row_present, column_present;  // [m], [n]; optional, both or none
  Out next, direction;             // [m, n]
  double beta2 = 0.999, eps = 1e-8;
  double correction1 = 1, correction2 = 1;  // 1 - beta^update

  template <class F>
  void views(F&& f) const {
    f("gradient", gradient), f("average", average), f("squares", squares);
    f("row_order", row_order), f("column_order", column_order);
    f("row_present", row_present), f("column_present", column_present);
    f("next", next), f("direction", direction);
  }
};

void run(device::ReferenceStream&, const WideAverage&);
void run(device::ReferenceStream&, const WhitenRows&);
void run(device::ReferenceStream&, const SoapDirection&);
void run(device::HostStream&, const WideAverage&);
void run(device::HostStream&, const WhitenRows&);
void run(device::HostStream&, const SoapDirection&);

}  // namespace mpitron::kernels
