// Numerical contract: that of packed_matmul.h, the host's bits. A warp takes one output feature,
// its lanes take neighbouring inputs. A weight is read once where it is in 4 bits, and twice, the
// second time out of the cache, where a scale is that of all inputs.
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/linear/packed_matmul.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

constexpr unsigned kWarps = kThreads / kWarp;

template <class T>
struct PackedFeatures {
  Rows<const T> weight;  // [n, k]
  Index n, k, filled, features;
  std::uint8_t* packed;
  Index block_bytes, weight_bytes;

  /// Weights of one feature, and where they go.
  struct Feature {
    const T* row;  // null: all are zero
    std::uint8_t *weights, *scales;
    int column;
  };
  /// body(feature) for this warp's features, those that fill up the last block among them.
  template <class Body>
  __device__ void each(Body&& body) const {
    const Index warps = static_cast<Index>(gridDim.x) * kWarps;
    for (Index i = static_cast<Index>(blockIdx.x) * kWarps + threadIdx.x / kWarp; i < features;
         i += warps) {
      std::uint8_t* block = packed + i / kPackedColumns * block_bytes;
      body(Feature{i < n ? weight[i] : nullptr, block, block + weight_bytes,
                   static_cast<int>(i % kPackedColumns)});
    }
  }
  __device__ float value(const Feature& feature, Index input) const {
    return feature.row != nullptr && input < k ? load(feature.row + input, Width<1>())[0] : 0.F;
  }
};

/// Rounds to nearest even, within [low, high].
__device__ int rounded_within(float value, float reciprocal, float low, float high) {
  return static_cast<int>(fminf(fmaxf(rintf(value * reciprocal), low), high));
}

template <class T>
__global__ void pack_8_bits(const __grid_constant__ PackedFeatures<T> a) {
  a.each([&](const auto& feature) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    float largest = 0;
    for (Index i = lane; i < a.k; i += kWarp) {
      largest = fmaxf(largest, fabsf(a.value(feature, i)));
    }
    const float scale = warp_reduce(largest, Largest{}) / 127.F;
    for (Index i = 4 * lane; i < a.filled; i += 4 * kWarp) {
      uchar4 four;
      unsigned char* const bytes = &four.x;
      for (int j = 0; j < 4; ++j) {
        bytes[j] = static_cast<unsigned char>(
            rounded_within(a.value(feature, i + j), reciprocal_of(scale), -127.F, 127.F) + 128);
      }
      reinterpret_cast<uchar4*>(feature.weights)[i / 4 * kPackedColumns + feature.column] = four;
    }
    if (lane == 0) {
      reinterpret_cast<float*>(feature.scales)[feature.column] = scale;
    }
  });
}

/// Of weights with the same magnitude the first decides the scale's sign.
template <class T>
__global__ void pack_4_bits(const __grid_constant__ PackedFeatures<T> a) {
  a.each([&](const auto& feature) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    for (Index begin = 0; begin < a.filled; begin += kWarp) {
      const float value = a.value(feature, begin + lane);
      const float largest = warp_reduce(fabsf(value), Largest{});
      const auto with_it =
          static_cast<int>(__ballot_sync(kAllLanes, fabsf(value) == largest ? 1 : 0));
      const float extreme = __shfl_sync(kAllLanes, value, __ffs(with_it) - 1);
      const __half scale = __float2half_rn(extreme / -8.F);
      const int code = rounded_within(value, reciprocal_of(__half2float(scale)), -8.F, 7.F) + 8;
      const int high = __shfl_xor_sync(kAllLanes, code, kWarp / 2);
      if (lane < kWarp / 2) {
        std::uint8_t* group = feature.weights + begin * kPackedColumns / 2;
        group[(lane / 4 * kPackedColumns + feature.column) * 4 + lane % 4] =
            static_cast<std::uint8_t>(code + 16 * high);
      }
      if (lane == 0) {
        reinterpret_cast<__half*>(feature.scales)[begin / kWarp * kPackedColumns + feature.column] =
            scale;
      }
    }
  });
}

}  // namespace

void run(device::CudaStream& stream, const PackWeight& kernel) {
  check(kernel);
  const bool four = kernel.format == WeightFormat::q4;
  MPITRON_CHECK(four || kernel.format == WeightFormat::int8, facts(kernel.format).name);
  const Index n = kernel.weight.size(0), k = kernel.weight.size(1);
  const Index features = packed_blocks(n) * kPackedColumns;
  if (features == 0) {
    return;
  }
  visit_element(kernel.weight.dtype, [&]<class T>() {
    launch(stream, PackWeight::name, {blocks_for(features, kWarps), kThreads},
           four ? pack_4_bits<T> : pack_8_bits<T>,
           PackedFeatures<T>{rows_of<T>(kernel.weight), n, k, packed_inputs(kernel.format, k),
                             features, kernel.packed.as<std::uint8_t>(),
                             packed_block_bytes(kernel.format, k),
                             packed_weight_bytes(kernel.format, k)});
  });
}

}  // namespace mpitron::kernels
