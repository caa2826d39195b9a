// Numerical contract: that of matmul.h. cuBLASLt adds the bias to the fp32 sums before it
// rounds them; activations are applied behind it, by a kernel that reads fp32 sums (in c itself
// where c is fp32) and rounds them once. Its own GELU is not used: on an H200 it is off by 1.6e-3
// at -0.015, more than bf16 rounds. Which
// algorithm sums depends on the shape and on how pointers are aligned, so bits may, too.
#include "kernels/linear/matmul.h"

#include <cuda_runtime_api.h>

#include "device/cuda/cuda_device.h"
#include "device/cuda/cuda_handles.h"
#include "kernels/cuda/linear/gemm.h"
#include "kernels/cuda/linear/grouped_product.h"
#include "kernels/cuda/linear/product_finish.h"

namespace mpitron::kernels {
namespace cuda {
namespace {

constexpr Index kAlignment = 256;

Index round_up(Index bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Tells whether cuBLASLt does the whole product. Its bias has c's type and is aligned to 16 bytes.
bool fits_library(const Matmul& k) {
  if (k.activation != Activation::none) {
    return false;
  }
  if (k.c.dtype == k.a.dtype && k.c.dtype != DType::f64) {
    return !k.bias || alignment_of(k.bias.data) >= 16;
  }
  return !k.bias && (k.c.dtype == k.a.dtype || k.a.dtype != DType::f64);
}

/// Plans a product as cuBLASLt's sums into c, or into memory of their own in front of its
/// workspace.
struct Plan {
  GemmShape shape;
  int device;
  DType sum_type;
  Index sum_bytes = 0;
  bool finish;

  explicit Plan(const device::CudaStream& stream, const Matmul& k)
      : device(stream.device),
        sum_type(k.a.dtype == DType::f64 ? DType::f64 : DType::f32),
        finish(!fits_library(k)) {
    GemmShape& p = shape;
    p = {.m = k.c.size(0),
         .n = k.c.size(1),
         .k = k.a.size(k.transpose_a ? 0 : 1),
         .a_stride = k.a.stride(0),
         .b_stride = k.b.stride(0),
         .c_stride = k.c.stride(0),
         .type = k.a.dtype,
         .c_type = k.c.dtype,
         .epilogue = k.bias && !finish ? Epilogue::bias : Epilogue::none,
         .transpose_a = k.transpose_a,
         .transpose_b = k.transpose_b,
         .accumulate = k.accumulate,
         .a_alignment = alignment_of(k.a.data),
         .b_alignment = alignment_of(k.b.data),
         .c_alignment = alignment_of(k.c.data)};
    if (finish && k.c.dtype != sum_type) {
      p.c_type = sum_type;
      p.c_stride = p.n;
      p.c_alignment = kAlignment;
      p.accumulate = false;
      sum_bytes = round_up(p.m * p.n * static_cast<Index>(size_of(sum_type)));
    }
  }

  Index workspace_bytes() const {
    const Index bytes = sum_bytes + Gemm::of(device, shape).workspace_bytes();
    return bytes == 0 ? 0 : bytes + kAlignment;
  }
};

/// Returns the workspace's first place that is aligned as cuBLASLt wants it.
char* aligned_workspace(const Out& workspace, Index wanted) {
  MPITRON_CHECK(workspace.bytes() >= wanted, workspace.bytes(), wanted);
  const auto address = reinterpret_cast<std::uintptr_t>(workspace.data);
  return static_cast<char*>(workspace.data) +
         (round_up(static_cast<Index>(address)) - static_cast<Index>(address));
}

/// Tells whether our own kernel does the product (gemm_choice.h).
bool runs_own_kernel(const Matmul& kernel) {
  return matmul_kernel() == MatmulKernel::mma && GroupedProduct::takes(kernel);
}

/// Makes c = 0 or c += 0: a product over no elements (an expert without tokens).
void run_empty(device::CudaStream& stream, const Matmul& kernel) {
  MPITRON_CHECK(!kernel.bias);
  if (!kernel.accumulate) {
    const std::size_t element = size_of(kernel.c.dtype);
    device::check(
        cudaMemset2DAsync(kernel.c.data, static_cast<std::size_t>(kernel.c.stride(0)) * element, 0,
                          static_cast<std::size_t>(kernel.c.size(1)) * element,
                          static_cast<std::size_t>(kernel.c.size(0)), stream.handle),
        Matmul::name);
  }
}

}  // namespace
}  // namespace cuda

Index workspace_bytes(const device::CudaStream& stream, const Matmul& kernel) {
  if (kernel.c.numel() == 0 || kernel.a.numel() == 0 || cuda::runs_own_kernel(kernel)) {
    return 0;
  }
  return cuda::Plan(stream, kernel).workspace_bytes();
}

void run(device::CudaStream& stream, const Matmul& kernel) {
  check(kernel);
  if (kernel.c.numel() == 0) {
    return;
  }
  if (kernel.a.numel() == 0) {
    return cuda::run_empty(stream, kernel);
  }
  if (cuda::runs_own_kernel(kernel)) {
    cuda::GroupedProduct product;
    product.add(kernel);
    return product.run(stream);
  }
  const cuda::Plan plan(stream, kernel);
  char* workspace = cuda::aligned_workspace(kernel.workspace, plan.workspace_bytes());
  device::TensorView sums = kernel.c;
  if (plan.sum_bytes > 0) {
    sums = {workspace, plan.sum_type, kernel.c.shape};
    workspace += plan.sum_bytes;
  }
  cuda::Gemm::of(plan.device, plan.shape)
      .run(stream, {kernel.a.data, kernel.b.data, plan.finish ? nullptr : kernel.bias.data,
                    sums.data, workspace});
  if (plan.finish) {
    run(stream, cuda::ProductFinish{sums, kernel.bias, kernel.c, kernel.activation,
                                    kernel.accumulate && plan.sum_bytes > 0});
  }
}

}  // namespace mpitron::kernels
