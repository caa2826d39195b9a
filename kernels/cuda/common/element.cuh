#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "device/tensor_view.h"
#include "utils/numbers/dtype.h"

namespace mpitron::kernels::cuda {

/// The type that GPU code uses for a storage type of the host.
template <class T>
struct DeviceType {
  using type = T;
};
template <>
struct DeviceType<BFloat16> {
  using type = __nv_bfloat16;
};
template <>
struct DeviceType<Float16> {
  using type = __half;
};

/// The dtype of a type of GPU code.
template <class T>
constexpr DType element_dtype() {
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return DType::bf16;
  } else if constexpr (std::is_same_v<T, __half>) {
    return DType::f16;
  } else {
    return dtype_of<T>();
  }
}

/// The elements of a view in device memory, whose dtype T is the GPU's name of.
template <class T>
T* elements(const device::TensorView& view) {
  MPITRON_CHECK(view.data == nullptr || view.dtype == element_dtype<T>(), name_of(view.dtype));
  return static_cast<T*>(view.data);
}
template <class T>
const T* elements(const device::ConstTensorView& view) {
  MPITRON_CHECK(view.data == nullptr || view.dtype == element_dtype<T>(), name_of(view.dtype));
  return static_cast<const T*>(view.data);
}

/// Calls f<T>() with the GPU's type of a training dtype: float, __nv_bfloat16 or __half.
template <class F>
void visit_element(DType dtype, F&& f) {
  visit_dtype(dtype, [&]<class T>() { f.template operator()<typename DeviceType<T>::type>(); });
}

/// Calls f<A, B>() with the GPU's types of two training dtypes.
template <class F>
void visit_elements(DType a, DType b, F&& f) {
  visit_element(
      a, [&]<class A>() { visit_element(b, [&]<class B>() { f.template operator()<A, B>(); }); });
}

}  // namespace mpitron::kernels::cuda
