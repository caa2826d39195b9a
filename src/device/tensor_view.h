#pragma once
#include <array>
#include <cstddef>
#include <string>

#include "utils/check.h"
#include "utils/numbers/dtype.h"
#include "utils/numbers/shape.h"

namespace mpitron::device {

/// Strides in elements, slowest dimension first.
using Strides = std::array<Index, Shape::kMaxRank>;

Strides contiguous_strides(const Shape& shape);

/// Typed memory with a shape and strides; owns nothing. An empty view (no data) stands for an
/// absent argument. `Pointer` is `const void*` (cannot write) or `void*`.
template <class Pointer>
struct BasicTensorView {
  Pointer data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  Strides strides{};

  BasicTensorView() = default;
  BasicTensorView(Pointer data_, DType dtype_, const Shape& shape_)
      : data(data_), dtype(dtype_), shape(shape_), strides(contiguous_strides(shape_)) {}
  BasicTensorView(Pointer data_, DType dtype_, const Shape& shape_, const Strides& strides_)
      : data(data_), dtype(dtype_), shape(shape_), strides(strides_) {}

  explicit operator bool() const { return data != nullptr; }
  Index numel() const { return shape.numel(); }
  Index bytes() const { return data ? numel() * static_cast<Index>(size_of(dtype)) : 0; }
  Index size(int dim) const { return shape[dim]; }
  Index stride(int dim) const {
    return strides[static_cast<std::size_t>(dim < 0 ? shape.rank() + dim : dim)];
  }
  bool contiguous() const { return strides == contiguous_strides(shape); }

  /// The elements as T, which must be the view's dtype.
  template <class T>
  auto as() const {
    using Element = std::conditional_t<std::is_same_v<Pointer, void*>, T, const T>;
    MPITRON_DCHECK(data == nullptr || dtype == dtype_of<T>(), name_of(dtype));
    return static_cast<Element*>(data);
  }
};

struct ConstTensorView : BasicTensorView<const void*> {
  using BasicTensorView::BasicTensorView;
};

struct TensorView : BasicTensorView<void*> {
  using BasicTensorView::BasicTensorView;
  operator ConstTensorView() const {
    return {data, dtype, shape, strides};
  }  // NOLINT: dropping write access is safe
};

/// The roles of a kernel's arguments: read, written without being read, read and written.
using In = ConstTensorView;
struct Out : TensorView {
  Out() = default;
  Out(const TensorView& view)
      : TensorView(view) {}  // NOLINT(google-explicit-constructor): an argument's role
};
struct InOut : TensorView {
  InOut() = default;
  InOut(const TensorView& view)
      : TensorView(view) {}  // NOLINT(google-explicit-constructor): an argument's role
};

/// Dimension `dim` cut to [begin, end); memory is shared.
TensorView slice(const TensorView& view, int dim, Index begin, Index end);
ConstTensorView slice(const ConstTensorView& view, int dim, Index begin, Index end);

/// Views the same elements under another shape; the view must be contiguous.
TensorView reshape(const TensorView& view, const Shape& shape);
ConstTensorView reshape(const ConstTensorView& view, const Shape& shape);

/// "q bf16[4, 8] at 0x7f00", for messages.
std::string describe(const char* name, const ConstTensorView& view);

}  // namespace mpitron::device
