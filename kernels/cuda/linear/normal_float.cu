// Numerical contract: that of normal_float.h, the host's bits. A warp takes a group of weights that
// share a scale, a lane two neighbours of them.
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/linear/normal_float.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

constexpr int kPairs = kNormalFloatGroup / 2;
static_assert(kPairs == kWarp, "a lane takes a byte of codes");

template <class T>
struct Groups {
  T* weight;
  std::uint8_t* codes;
  __half* scales;
  Index weight_row, codes_row, scales_row;  // strides
  Index groups, groups_a_row;

  /// body(this lane's weights, its byte of codes, the group's scale) for this warp's groups.
  template <class Body>
  __device__ void each(Body&& body) const {
    const Index warps = static_cast<Index>(gridDim.x) * (blockDim.x / kWarp);
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    for (Index i = static_cast<Index>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
         i < groups; i += warps) {
      const Index row = i / groups_a_row, group = i % groups_a_row;
      body(weight + row * weight_row + group * kNormalFloatGroup + 2 * lane,
           codes + row * codes_row + group * kPairs + lane, scales + row * scales_row + group);
    }
  }
};

/// The scale is rounded to fp16 first, and codes are chosen for the rounded one.
template <class T>
__global__ void pack_groups(const __grid_constant__ Groups<T> a) {
  a.each([](const T* weight, std::uint8_t* codes, __half* scale) {
    const float first = load(weight, Width<1>())[0], second = load(weight + 1, Width<1>())[0];
    const float largest = warp_reduce(fmaxf(fabsf(first), fabsf(second)), Largest{});
    const __half rounded = __float2half_rn(fminf(largest, 65504.F));
    const float reciprocal = reciprocal_of(__half2float(rounded));
    *codes = static_cast<std::uint8_t>(16 * normal_float_code(first, reciprocal) +
                                       normal_float_code(second, reciprocal));
    if (threadIdx.x % kWarp == 0) {
      *scale = rounded;
    }
  });
}

template <class T>
__global__ void unpack_groups(const __grid_constant__ Groups<T> a) {
  a.each([](T* weight, const std::uint8_t* codes, const __half* scale) {
    constexpr auto kValues = kNormalFloats;
    const float wide = __half2float(*scale);
    store(weight, Floats<1>{kValues[*codes >> 4] * wide});
    store(weight + 1, Floats<1>{kValues[*codes & 15] * wide});
  });
}

/// Launches a kernel on all groups; what it only reads is not written to.
template <class T, class Kernel>
void launch_groups(device::CudaStream& stream, const Kernel& k, void (*kernel)(Groups<T>)) {
  const auto memory = [](const auto& view) {
    return const_cast<void*>(static_cast<const void*>(view.data));
  };
  const Index groups = k.scales.numel();
  launch(stream, k.name, {blocks_for(groups, kThreads / kWarp), kThreads}, kernel,
         Groups<T>{static_cast<T*>(memory(k.weight)), static_cast<std::uint8_t*>(memory(k.codes)),
                   static_cast<__half*>(memory(k.scales)), k.weight.stride(0), k.codes.stride(0),
                   k.scales.stride(0), groups, k.scales.size(1)});
}

}  // namespace

void run(device::CudaStream& stream, const PackNormalFloat& k) {
  check_normal_float(k);
  visit_element(k.weight.dtype, [&]<class T>() { launch_groups<T>(stream, k, pack_groups<T>); });
}

void run(device::CudaStream& stream, const UnpackNormalFloat& k) {
  check_normal_float(k);
  visit_element(k.weight.dtype, [&]<class T>() { launch_groups<T>(stream, k, unpack_groups<T>); });
}

}  // namespace mpitron::kernels
