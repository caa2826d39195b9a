#pragma once
#include <algorithm>
#include <type_traits>

#include "kernels/experts/router_row.h"
#include "kernels/host/common/views.h"

// Reads and writes rows of [t, E] for the router's host kernels.

namespace mpitron::kernels::host {

inline void check_row(const In& logits) {
  MPITRON_CHECK(logits.shape.rank() == 2 && logits.contiguous(), to_string(logits.shape));
  MPITRON_CHECK(logits.size(1) <= kMostExperts, logits.size(1));
}

/// Calls f<T, Tx>() with the type that is computed in and the type that is stored.
template <class F>
void visit_routing_dtype(DType dtype, F&& f) {
  if (dtype == DType::f64) {
    f.template operator()<double, double>();
  } else {
    visit_dtype(dtype, [&]<class Tx>() { f.template operator()<float, Tx>(); });
  }
}

/// Reads a row of stored numbers in the type that is computed in.
template <class T, class Tx>
struct RowReader {
  explicit RowReader(const In& view) : data(view.as<Tx>()), n(view.size(1)) {}
  void read(Index row, T* to) const {
    std::transform(data + row * n, data + (row + 1) * n, to, [](Tx x) {
      return static_cast<T>(
          static_cast<std::conditional_t<std::is_same_v<Tx, double>, double, float>>(x));
    });
  }

  const Tx* data;
  Index n;
};

template <class T, class Tx>
void write_row(const T* from, const Out& view, Index row) {
  const Index n = view.size(1);
  std::transform(from, from + n, view.as<Tx>() + row * n, [](T x) { return static_cast<Tx>(x); });
}

}  // namespace mpitron::kernels::host
