#pragma once
#include <type_traits>

#include "device/streams.h"
#include "kernels/reference/common/elements.h"
#include "utils/numbers/dtype.h"

namespace mpitron::kernels {
struct Matmul;
}

namespace mpitron::kernels::host {

// Only routers compute in fp64 (--moe-router-dtype): their products and conversions are plain loops
// on all threads; what else they need takes the reference's.

/// True if the reference did it.
template <class Kernel>
bool run_fp64(const Kernel& kernel, DType dtype) {
  if (dtype != DType::f64) {
    return false;
  }
  device::ReferenceStream plain;
  run(plain, kernel);
  return true;
}

/// A product of fp64 matrices: sums over k in order, whatever the number of threads.
void multiply_fp64(const Matmul& kernel);

/// visit_dtype, also of fp64.
template <class F>
void visit_wide_dtype(DType dtype, F&& f) {
  if (dtype == DType::f64) {
    f.template operator()<double>();
  } else {
    visit_dtype(dtype, f);
  }
}

/// Rounded once.
template <class To, class From>
To converted(From x) {
  using Exact = std::conditional_t<std::is_same_v<From, double>, double, float>;
  const double exact = static_cast<Exact>(x);
  if constexpr (std::is_same_v<To, double> || std::is_same_v<To, float>) {
    return static_cast<To>(exact);
  } else {
    return static_cast<To>(reference::round_to_odd(exact));
  }
}

}  // namespace mpitron::kernels::host
