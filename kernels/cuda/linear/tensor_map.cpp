// Makes descriptors for Hopper's copy engine through the driver, whose function is looked up at run
// time: the program links no libcuda, so it starts on machines without a driver.
#include "kernels/cuda/linear/tensor_map.h"

#include <utility>

#include <cuda_runtime_api.h>

#include "device/cuda/cuda_handles.h"

namespace mpitron::kernels::cuda {

namespace {

constexpr int kRank = 5, kPanelColumns = 64;
constexpr Index kElementBytes = 2, kAlignment = 16;

/// Finds the driver's encoder; null where the driver is older than the function.
auto tensor_map_encoder() {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  static const auto encode = [] {
    constexpr unsigned kFirstVersion = 12000;
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result{};
    device::check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                   kFirstVersion, cudaEnableDefault, &result),
                  "cuTensorMapEncodeTiled");
    return result == cudaDriverEntryPointSuccess ? reinterpret_cast<Encode>(function) : nullptr;
  }();
  return encode;
}

}  // namespace

bool make_head_map(HeadMap& to, const device::ConstTensorView& view, int rows) {
  const bool split = view.shape.rank() == 5;
  to.inner = split ? static_cast<int>(view.size(3)) : 1;
  const Index extents[kRank] = {view.size(-1), to.inner, view.size(2), view.size(1), view.size(0)};
  const Index strides[kRank] = {1, split ? view.stride(3) : 0, view.stride(2), view.stride(1),
                                view.stride(0)};
  cuuint64_t size[kRank], stride[kRank];
  bool possible = tensor_map_encoder() != nullptr && (view.stride(-1) == 1 || view.size(-1) == 1);
  for (int i = 0; i < kRank; ++i) {
    // The stride of a single element says nothing.
    const Index bytes = extents[i] == 1 ? kAlignment : strides[i] * kElementBytes;
    possible = possible && extents[i] > 0 && bytes > 0 && (i == 0 || bytes % kAlignment == 0);
    size[i] = static_cast<cuuint64_t>(extents[i]);
    stride[i] = static_cast<cuuint64_t>(bytes);
  }
  const cuuint32_t box[kRank] = {kPanelColumns, 1, 1, 1, static_cast<cuuint32_t>(rows)};
  const cuuint32_t step[kRank] = {1, 1, 1, 1, 1};
  return possible &&
         tensor_map_encoder()(&to.map,
                              view.dtype == DType::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                        : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                              kRank, const_cast<void*>(view.data), size, stride + 1, box, step,
                              CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                              CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

bool has_warpgroups(const device::CudaStream& stream) {
  int major = 0, minor = 0;
  for (const auto& [attribute, value] : {std::pair{cudaDevAttrComputeCapabilityMajor, &major},
                                         std::pair{cudaDevAttrComputeCapabilityMinor, &minor}}) {
    device::check(cudaDeviceGetAttribute(value, attribute, stream.device), "compute capability");
  }
  return major == 9 && minor == 0;
}

}  // namespace mpitron::kernels::cuda
