#pragma once
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/elementwise/stored_numbers.h"

// Stored numbers on the GPU: each thread has a pack of eight, eight neighbouring threads a block of
// 64, whose largest magnitude they find by a butterfly.

namespace mpitron::kernels::cuda {

/// StoredNumbers in the GPU's memory; also a plain array of a training type.
struct StoredArray {
  void* values;  // null: absent
  std::uint8_t* exponents;
  std::uint16_t* upper;
  DType dtype;
  bool keeps_nonzero, aligned;

  StoredArray() = default;
  StoredArray(const StoredNumbers& x)  // NOLINT(google-explicit-constructor): the same numbers
      : values(x.values.data),
        exponents(static_cast<std::uint8_t*>(x.exponents.data)),
        upper(static_cast<std::uint16_t*>(x.upper.data)),
        dtype(x.values.dtype),
        keeps_nonzero(x.keeps_nonzero),
        aligned(fits_packs(values) && fits_packs(upper)) {}
  explicit StoredArray(const In& x)
      : StoredArray(StoredNumbers(
            device::TensorView(const_cast<void*>(x.data), x.dtype, x.shape, x.strides))) {}

  /// Loads a pack of stored numbers as fp32, of any storage type; the scale of its block is one for
  /// the pack, as packs do not cross blocks.
  __device__ Floats<kPack> load(Index i, int count) const {
    switch (dtype) {
      case DType::bf16:
        return floats(load_some(static_cast<const __nv_bfloat16*>(values) + i, count, aligned));
      case DType::f16:
        return unscaled(floats(load_some(static_cast<const __half*>(values) + i, count, aligned)),
                        i, count, stored::fp16());
      case DType::u8: {
        const auto raw = load_some(static_cast<const std::uint8_t*>(values) + i, count, aligned);
        Floats<kPack> x;
        for (int j = 0; j < kPack; ++j) {
          x[j] = stored::from_e4m3(raw.v[j]);
        }
        return unscaled(x, i, count, stored::e4m3());
      }
      case DType::i16: {
        const auto rest = load_some(static_cast<const std::int16_t*>(values) + i, count, aligned);
        const auto high = load_some(upper + i, count, aligned);
        Floats<kPack> x;
        for (int j = 0; j < kPack; ++j) {
          x[j] = stored::whole({high.v[j], rest.v[j]});
        }
        return x;
      }
      default:
        return floats(load_some(static_cast<const float*>(values) + i, count, aligned));
    }
  }

  /// All lanes of a warp come here, neighbours with neighbouring packs.
  __device__ void store(Index i, int count, const Floats<kPack>& x) const {
    switch (dtype) {
      case DType::bf16:
        return store_some(static_cast<__nv_bfloat16*>(values) + i, count, aligned,
                          rounded<__nv_bfloat16>(x));
      case DType::f16:
        return store_some(static_cast<__half*>(values) + i, count, aligned,
                          rounded<__half>(scaled(x, i, count, stored::fp16())));
      case DType::u8: {
        const Floats<kPack> y = scaled(x, i, count, stored::e4m3());
        Raw<std::uint8_t, kPack> raw;
        for (int j = 0; j < kPack; ++j) {
          raw.v[j] = stored::e4m3_of(y[j]);
        }
        return store_some(static_cast<std::uint8_t*>(values) + i, count, aligned, raw);
      }
      case DType::i16: {
        Raw<std::int16_t, kPack> rest;
        Raw<std::uint16_t, kPack> high;
        for (int j = 0; j < kPack; ++j) {
          const stored::Halves halves = stored::halves_of(x[j]);
          high.v[j] = halves.upper;
          rest.v[j] = halves.rest;
        }
        store_some(upper + i, count, aligned, high);
        return store_some(static_cast<std::int16_t*>(values) + i, count, aligned, rest);
      }
      default:
        return store_some(static_cast<float*>(values) + i, count, aligned, rounded<float>(x));
    }
  }

 private:
  static bool fits_packs(const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % sizeof(uint4) == 0;
  }
  /// A pack of nothing may lie behind the last block, which has no exponent there.
  __device__ Floats<kPack> unscaled(const Floats<kPack>& x, Index i, int count,
                                    stored::Scaled type) const {
    if (exponents == nullptr || count == 0) {
      return x;
    }
    const float factor = stored::inverse_scale(exponents[i / StoredNumbers::kBlock], type);
    return each([factor](float v) { return v * factor; }, x);
  }
  /// Scaled by the block's power of two, which is stored.
  __device__ Floats<kPack> scaled(const Floats<kPack>& x, Index i, int count,
                                  stored::Scaled type) const {
    if (exponents == nullptr) {
      return x;
    }
    constexpr int kThreadsOfBlock = StoredNumbers::kBlock / kPack;
    unsigned largest = 0;
    for (int j = 0; j < kPack; ++j) {
      const unsigned magnitude = j < count ? stored::magnitude_bits(x[j]) : 0;
      largest = magnitude > largest ? magnitude : largest;
    }
    largest = warp_reduce(
        largest, [](unsigned a, unsigned b) { return a > b ? a : b; }, kThreadsOfBlock);
    const std::uint8_t exponent = stored::block_exponent(largest, type);
    __syncwarp();  // where numbers are replaced, all have read the old exponent
    if (count > 0 && i % StoredNumbers::kBlock == 0) {
      exponents[i / StoredNumbers::kBlock] = exponent;
    }
    const float factor = stored::scale(exponent, type);
    const bool nonzero = keeps_nonzero;
    return each(
        [=](float v) { return nonzero ? stored::above_zero(v * factor, type) : v * factor; }, x);
  }
};

/// body(i, count) over [0, n) for threads of whole warps: the pack of count <= 8 elements that
/// begins at i. Whole warps come to each call, so some threads with nothing left to do.
template <class F>
__device__ void for_stored_packs(Index n, const Worker& thread, F&& body) {
  const Index warp = thread.index / kWarp * kWarp * kPack, lane = thread.index % kWarp * kPack;
  for (Index first = warp; first < n; first += thread.count * kPack) {
    const Index left = n - first - lane;
    body(first + lane, static_cast<int>(left < 0 ? 0 : left < kPack ? left : kPack));
  }
}

}  // namespace mpitron::kernels::cuda
