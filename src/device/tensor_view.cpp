// Computes strides, slices and reshapes of views; none of them touches the elements.
#include "device/tensor_view.h"

#include <fmt/format.h>

namespace mpitron::device {
namespace {

template <class View>
View slice_view(View view, int dim, Index begin, Index end) {
  MPITRON_CHECK(0 <= begin && begin <= end && end <= view.size(dim), begin, end, view.size(dim));
  using Byte = std::conditional_t<std::is_same_v<View, TensorView>, char, const char>;
  view.data = static_cast<Byte*>(view.data) +
              begin * view.stride(dim) * static_cast<Index>(size_of(view.dtype));
  view.shape[dim] = end - begin;
  return view;
}

template <class View>
View reshape_view(const View& view, const Shape& shape) {
  MPITRON_CHECK(view.contiguous() && view.numel() == shape.numel(), to_string(view.shape),
                to_string(shape));
  return {view.data, view.dtype, shape};
}

}  // namespace

Strides contiguous_strides(const Shape& shape) {
  Strides strides{};
  Index step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<std::size_t>(i)] = step;
    step *= shape[i];
  }
  return strides;
}

TensorView slice(const TensorView& view, int dim, Index begin, Index end) {
  return slice_view(view, dim, begin, end);
}
ConstTensorView slice(const ConstTensorView& view, int dim, Index begin, Index end) {
  return slice_view(view, dim, begin, end);
}
TensorView reshape(const TensorView& view, const Shape& shape) {
  return reshape_view(view, shape);
}
ConstTensorView reshape(const ConstTensorView& view, const Shape& shape) {
  return reshape_view(view, shape);
}

std::string describe(const char* name, const ConstTensorView& view) {
  return view ? fmt::format("{} {}{} at {}", name, name_of(view.dtype), to_string(view.shape),
                            view.data)
              : fmt::format("{} absent", name);
}

}  // namespace mpitron::device
