// Numerical contract: that of fp8_matmul.h. GPUs that multiply numbers of 8 bits do so
// where each factor has one scale and 16 divides n and k, by cuBLASLt without its fast
// accumulation; all other products are done in bf16.
#include "kernels/linear/fp8_matmul.h"

#include <cuda_runtime_api.h>

#include "device/cuda/cuda_device.h"
#include "device/cuda/cuda_handles.h"
#include "kernels/cuda/linear/fp8_factors.h"
#include "kernels/cuda/linear/gemm.h"
#include "kernels/linear/fp8_product_steps.h"

namespace mpitron::kernels {
namespace cuda {
namespace {

constexpr Index kAlignment = 256;

int compute_capability(int device) {
  int major = 0, minor = 0;
  device::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                "asking for a GPU's capability");
  device::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
                "asking for a GPU's capability");
  return 10 * major + minor;
}

/// Describes the product to the choice of an algorithm; b always lies transposed, which is the one
/// layout that cuBLASLt multiplies in 8 bits.
GemmShape shape_of(const Fp8Matmul& k) {
  return {.m = k.c.size(0),
          .n = k.c.size(1),
          .k = k.a.values.size(1),
          .a_stride = k.a.values.stride(0),
          .b_stride = k.b.values.stride(0),
          .c_stride = k.c.stride(0),
          .type = DType::u8,
          .c_type = k.c.dtype,
          .a_format = k.a.scaling.format,
          .b_format = k.b.scaling.format,
          .epilogue = k.bias ? Epilogue::bias : Epilogue::none,
          .transpose_b = true,
          .accumulate = k.accumulate,
          .a_alignment = alignment_of(k.a.values.data),
          .b_alignment = alignment_of(k.b.values.data),
          .c_alignment = alignment_of(k.c.data)};
}

/// Tells whether the GPU multiplies the numbers as they are.
bool is_native(const device::CudaStream& stream, const Fp8Matmul& k) {
  constexpr int kFirst = 89;
  const GemmShape p = shape_of(k);
  const bool fits = p.n % 16 == 0 && p.k % 16 == 0 && p.a_stride % 16 == 0 &&
                    p.b_stride % 16 == 0 && p.c_stride % 16 == 0 && p.a_alignment >= 16 &&
                    p.b_alignment >= 16 && p.c_alignment >= 16;
  const bool has_formats = p.a_format == Fp8Format::e4m3 || p.b_format == Fp8Format::e4m3;
  const bool has_bias = !k.bias || (p.c_type == DType::bf16 && alignment_of(k.bias.data) >= 16);
  return fits && has_formats && has_bias && k.a.blocks.whole() && p.m * p.n * p.k > 0 &&
         compute_capability(stream.device) >= kFirst && Gemm::find(stream.device, p) != nullptr;
}

/// Runs cuBLASLt's product; both factors' scales lie in front of its own workspace.
void run_native(device::CudaStream& stream, const Fp8Matmul& k) {
  const auto address = reinterpret_cast<std::uintptr_t>(k.workspace.data);
  const std::uintptr_t begin = (address + kAlignment - 1) / kAlignment * kAlignment;
  auto* const factors = reinterpret_cast<float*>(begin);
  run(stream, Fp8Factors{.a_amax = k.a.amax,
                         .b_amax = k.b.amax,
                         .factors = device::TensorView(factors, DType::f32, {2 * kFactorStride}),
                         .a_scaling = k.a.scaling,
                         .b_scaling = k.b.scaling});
  Gemm::of(stream.device, shape_of(k))
      .run(stream, {.a = k.a.values.data,
                    .b = k.b.values.data,
                    .bias = k.bias.data,
                    .c = k.c.data,
                    .workspace = reinterpret_cast<void*>(begin + kAlignment),
                    .a_factor = factors,
                    .b_factor = factors + kFactorStride});
}

}  // namespace
}  // namespace cuda

Index workspace_bytes(const device::CudaStream& stream, const Fp8Matmul& kernel) {
  return cuda::is_native(stream, kernel)
             ? 2 * cuda::kAlignment +
                   cuda::Gemm::of(stream.device, cuda::shape_of(kernel)).workspace_bytes()
             : Fp8ProductInBf16(kernel).workspace_bytes(stream);
}

void run(device::CudaStream& stream, const Fp8Matmul& kernel) {
  check(kernel);
  if (cuda::is_native(stream, kernel)) {
    MPITRON_CHECK(kernel.workspace.bytes() >= workspace_bytes(stream, kernel),
                  kernel.workspace.bytes());
    cuda::run_native(stream, kernel);
  } else {
    Fp8ProductInBf16(kernel).run_on(stream);
  }
}

}  // namespace mpitron::kernels
