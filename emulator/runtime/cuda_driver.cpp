// Emulates the one function of the CUDA driver that is called, which the program finds through the
// runtime, by name.
#include <cstring>
#include <string_view>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "emulator/device/device_memory.h"
#include "emulator/device/emulated_stream.h"
#include "emulator/units/copy_barriers.h"

namespace mpitron::emulator {
namespace {

/// Emulates cuTensorMapEncodeTiled for tensors as tensor_map.h describes them. The conditions are
/// those of its documentation in cuda.h.
CUresult encode_tiled(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank, void* address,
                      const cuuint64_t* size, const cuuint64_t* stride, const cuuint32_t* box,
                      const cuuint32_t* step, CUtensorMapInterleave interleave,
                      CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                      CUtensorMapFloatOOBfill fill) {
  constexpr cuuint64_t kMaxSize = cuuint64_t{1} << 32, kMaxStride = cuuint64_t{1} << 40;
  const bool known =
      type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 || type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  if (!known || rank != TensorMap::kRank || interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
      swizzle != CU_TENSOR_MAP_SWIZZLE_128B || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) {
    return CUDA_ERROR_NOT_SUPPORTED;  // by the emulator
  }
  TensorMap map{TensorMap::kMark, reinterpret_cast<std::uintptr_t>(address), {}, {}, {}};
  bool valid = map.data % 16 == 0 && is_device_memory(address) &&
               reinterpret_cast<std::uintptr_t>(to) % 64 == 0 && box[0] * 2 <= 128 &&
               box[0] * 2 % 16 == 0;
  for (int i = 0; i < TensorMap::kRank; ++i) {
    valid =
        valid && size[i] > 0 && size[i] <= kMaxSize && box[i] > 0 && box[i] <= 256 && step[i] == 1;
    map.size[i] = size[i];
    map.box[i] = box[i];
  }
  for (int i = 0; i < TensorMap::kRank - 1; ++i) {
    valid = valid && stride[i] > 0 && stride[i] % 16 == 0 && stride[i] < kMaxStride;
    map.stride[i] = stride[i];
  }
  if (!valid) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::memset(to, 0, sizeof *to);
  std::memcpy(to, &map, sizeof map);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace mpitron::emulator

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  using namespace mpitron::emulator;
  constexpr unsigned kFirstVersion = 12000;
  const bool found = std::string_view(symbol) == "cuTensorMapEncodeTiled";
  *function = found && version >= kFirstVersion ? reinterpret_cast<void*>(&encode_tiled) : nullptr;
  *result = !found                     ? cudaDriverEntryPointSymbolNotFound
            : version >= kFirstVersion ? cudaDriverEntryPointSuccess
                                       : cudaDriverEntryPointVersionNotSufficent;
  return noted(cudaSuccess);
}
