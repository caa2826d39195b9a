// Numerical contract: that of grouped_matmul.h. A group whose product fills a GPU is one of
// matmul.cpp; the others are one launch (grouped_product.h). Which one a
// group is depends on its own size and on how rows are aligned.
#include "kernels/linear/grouped_matmul.h"

#include <algorithm>

#include "device/cuda/cuda_device.h"
#include "kernels/cuda/linear/grouped_product.h"
#include "kernels/linear/gemm_choice.h"

namespace mpitron::kernels {
namespace cuda {
namespace {

/// Tells whether cuBLASLt does the product: alone it is faster, once there is work for a whole GPU.
bool goes_alone(const Matmul& product) {
  if (matmul_kernel() != MatmulKernel::automatic) {
    return matmul_kernel() == MatmulKernel::cublaslt || !GroupedProduct::takes(product);
  }
  constexpr Index kFillsGpu = Index{1} << 35;  // multiply-adds: about 100 microseconds
  const Index k = product.a.size(product.transpose_a ? 0 : 1);
  return product.c.numel() * k >= kFillsGpu || !GroupedProduct::takes(product);
}

template <class Kernel>
Index bytes_of_products(const device::CudaStream& stream, const Kernel& kernel) {
  const PassingSizes rows_of_experts;
  Index bytes = 0;
  for_products(kernel, [&](const Matmul& product) {
    if (goes_alone(product)) {
      bytes = std::max(bytes, workspace_bytes(stream, product));
    }
  });
  return bytes;
}

/// Runs large groups one by one, collects the others, and launches these together at the end.
template <class Kernel>
void run_products(device::CudaStream& stream, const Kernel& kernel) {
  const PassingSizes rows_of_experts;
  GroupedProduct together;
  for_products(kernel, [&](Matmul product) {
    if (goes_alone(product)) {
      product.workspace = kernel.workspace;
      run(stream, product);
    } else {
      together.add(product);
    }
  });
  together.run(stream);
}

}  // namespace
}  // namespace cuda

Index workspace_bytes(const device::CudaStream& stream, const GroupedMatmul& kernel) {
  return cuda::bytes_of_products(stream, kernel);
}

Index workspace_bytes(const device::CudaStream& stream, const GroupedWeightGradient& kernel) {
  return cuda::bytes_of_products(stream, kernel);
}

void run(device::CudaStream& stream, const GroupedMatmul& kernel) {
  cuda::run_products(stream, kernel);
}

void run(device::CudaStream& stream, const GroupedWeightGradient& kernel) {
  cuda::run_products(stream, kernel);
}

}  // namespace mpitron::kernels
