#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "device/tensor_view.h"

namespace mpitron::kernels::reference {

/// `value` rounded to fp32 such that a second rounding, to bf16 or fp16, gives what one rounding of
/// `value` would have given (round to odd: an inexact result keeps a set last bit).
float round_to_odd(double value);

double load_element(const void* data, DType dtype, Index offset);
void store_element(void* data, DType dtype, Index offset, double value);

/// The elements of a view of any dtype as doubles, by multi-index. With fewer indices than
/// dimensions the first one counts over the leading dimensions in row-major order: x(row, column)
/// serves [t, h] and [s, b, h] alike, x(i) any shape.
template <class View>
class Elements {
 public:
  explicit Elements(const View& view) : view_(view) {}

  explicit operator bool() const { return static_cast<bool>(view_); }

  template <class... Indices>
  double operator()(Indices... indices) const {
    return load_element(view_.data, view_.dtype, offset({static_cast<Index>(indices)...}));
  }

 protected:
  template <std::size_t N>
  Index offset(const Index (&at)[N]) const {
    int dim = view_.shape.rank() - 1;
    Index sum = 0;
    for (std::size_t i = N - 1; i > 0; --i, --dim) {
      sum += at[i] * view_.stride(dim);
    }
    Index rest = at[0];
    for (; dim > 0; --dim) {
      sum += rest % view_.size(dim) * view_.stride(dim);
      rest /= view_.size(dim);
    }
    return sum + rest * view_.stride(0);
  }

  View view_;
};

struct Reader : Elements<device::ConstTensorView> {
  using Elements::Elements;
};

/// A Reader that can store: writer.set(value, indices...) rounds once to the view's dtype.
struct Writer : Elements<device::TensorView> {
  using Elements::Elements;

  template <class... Indices>
  void set(double value, Indices... indices) const {
    store_element(view_.data, view_.dtype, offset({static_cast<Index>(indices)...}), value);
  }
  /// Adds in the view's dtype, as kernels with `+=` do: the old value is rounded already.
  template <class... Indices>
  void add(double value, Indices... indices) const {
    set((*this)(indices...) + value, indices...);
  }
};

/// Returns the number of rows when the last dimension is the row's.
template <class View>
Index rows_of(const View& view) {
  return view.size(-1) == 0 ? 0 : view.numel() / view.size(-1);
}

}  // namespace mpitron::kernels::reference
