// Packs a weight for generation: blocks of 16 output features, whose inputs lie interleaved in the
// order in which products read them. A block ends with the scales of its features, if the format
// has any.
#include <cstring>

#include "kernels/host/common/views.h"
#include "kernels/linear/packed_matmul.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;
using simd::kLanes;

static_assert(kPackedColumns == kLanes);

/// The weights of one feature as a row filled up with zeros.
template <class W>
struct FeatureRow {
  const W* data;  // null: all are zero
  Index count;

  /// Loads sixteen weights from input i on.
  Float load(Index i) const {
    const Index left = data == nullptr ? 0 : std::clamp<Index>(count - i, 0, kLanes);
    return left == 0        ? Float{}
           : left == kLanes ? simd::load(data + i)
                            : simd::load(data + i, simd::Part{left});
  }
};

/// Calls f(i, sixteen weights) for all K inputs.
template <class W, class F>
void for_sixteens(const FeatureRow<W>& row, Index inputs, F&& f) {
  for (Index i = 0; i < inputs; i += kLanes) {
    f(i, row.load(i));
  }
}

/// Stores a feature's weights as numbers of type T: `together` neighbouring inputs stay together,
/// because dot products take them in pairs.
template <class T, class W>
void pack_numbers(const FeatureRow<W>& row, T* packed, Index feature, Index inputs,
                  Index together) {
  for_sixteens(row, inputs, [&](Index i, Float weights) {
    for (Index j = i; j < std::min(i + kLanes, inputs); ++j) {
      packed[(j / together * kLanes + feature) * together + j % together] = T(weights[j - i]);
    }
  });
}

/// Whether the numbers stay as they are, and those inputs that stay together are words of 4 bytes.
bool moves_words(const PackWeight& kernel) {
  return (kernel.weight.dtype == DType::f32 && kernel.format == WeightFormat::fp32) ||
         (kernel.weight.dtype == DType::bf16 && kernel.format == WeightFormat::bf16);
}

/// Moves a block's words from rows of features to columns: what pack_numbers does, many times as
/// fast, as the start of a server waits for it.
void move_words(const PackWeight& kernel, Index block) {
  constexpr Index kWord = 4;
  const Index n = kernel.weight.size(0), k = kernel.weight.size(1);
  const auto size = static_cast<Index>(size_of(kernel.weight.dtype));
  const Index words = packed_inputs(kernel.format, k) * size / kWord;
  const auto* weight = static_cast<const std::uint8_t*>(kernel.weight.data);
  std::uint8_t* packed =
      kernel.packed.as<std::uint8_t>() + block * packed_block_bytes(kernel.format, k);
  std::uint32_t rows[kLanes][kLanes];
  for (Index first = 0; first < words; first += kLanes) {
    const Index inside = std::clamp<Index>(k * size - first * kWord, 0, kLanes * kWord);
    for (Index i = 0; i < kLanes; ++i) {
      const Index feature = block * kLanes + i, bytes = feature < n ? inside : 0;
      std::memset(rows[i], 0, sizeof rows[i]);
      std::memcpy(rows[i], weight + feature * kernel.weight.stride(0) * size + first * kWord,
                  static_cast<std::size_t>(bytes));
    }
    for (Index word = 0; word < std::min<Index>(kLanes, words - first); ++word) {
      std::uint32_t column[kLanes];
      for (Index i = 0; i < kLanes; ++i) {
        column[i] = rows[i][word];
      }
      std::memcpy(packed + (first + word) * kLanes * kWord, column, sizeof column);
    }
  }
}

/// Stores a feature in integers of 8 bits with one scale, q + 128 each: the products of bytes want
/// unsigned weights.
template <class W>
void pack_8_bits(const FeatureRow<W>& row, std::uint8_t* packed, Index feature, Index inputs) {
  Float most{};
  for_sixteens(row, inputs,
               [&](Index, Float weights) { most = simd::max(most, simd::abs(weights)); });
  const float scale = scale_of_8_bits(simd::lane_max(most));
  const Index behind = packed_weight_bytes(WeightFormat::int8, inputs);
  reinterpret_cast<float*>(packed + behind)[feature] = scale;
  for_sixteens(row, inputs, [&](Index i, Float weights) {
    const Float rounded = simd::round(weights * reciprocal_of(scale)) + 128.F;
    for (Index j = 0; j < kLanes; ++j) {
      packed[((i + j) / 4 * kLanes + feature) * 4 + j % 4] = static_cast<std::uint8_t>(rounded[j]);
    }
  });
}

/// Returns, of 32 weights, the first of those with the largest magnitude, with its sign: -8 is a
/// code and 8 is none, so the extreme weight becomes -8 and the scale may be negative.
float extreme_of(Float low, Float high) {
  const float most = simd::lane_max(simd::max(simd::abs(low), simd::abs(high)));
  for (const Float& half : {low, high}) {
    for (int lane = 0; lane < kLanes; ++lane) {
      if (std::abs(half[lane]) == most) {
        return half[lane];
      }
    }
  }
  return 0;
}

Float rounded_to_4_bits(Float weights, float reciprocal) {
  const Float rounded = simd::round(weights * reciprocal);
  return simd::max(simd::min(rounded, simd::splat(7.F)), simd::splat(-8.F)) + 8.F;
}

/// Stores a feature in integers of 4 bits, a scale in fp16 for each 32 inputs, as GGML's q4_0 does.
template <class W>
void pack_4_bits(const FeatureRow<W>& row, std::uint8_t* packed, Index feature, Index inputs) {
  auto* scales = reinterpret_cast<Float16*>(packed + packed_weight_bytes(WeightFormat::q4, inputs));
  for (Index begin = 0; begin < inputs; begin += 32, packed += 256, scales += kLanes) {
    const Float low = row.load(begin), high = row.load(begin + kLanes);
    scales[feature] = scale_of_4_bits(extreme_of(low, high));
    const float reciprocal = reciprocal_of(static_cast<float>(scales[feature]));
    const Float both =
        rounded_to_4_bits(low, reciprocal) + 16.F * rounded_to_4_bits(high, reciprocal);
    for (Index j = 0; j < kLanes; ++j) {
      packed[(j / 4 * kLanes + feature) * 4 + j % 4] = static_cast<std::uint8_t>(both[j]);
    }
  }
}

template <class W>
void pack_feature(const PackWeight& kernel, Index block, Index feature) {
  const Index n = kernel.weight.size(0), k = kernel.weight.size(1);
  const Index index = block * kLanes + feature, inputs = packed_inputs(kernel.format, k);
  const W* data = index < n ? kernel.weight.as<W>() + index * kernel.weight.stride(0) : nullptr;
  const FeatureRow<W> row{data, k};
  std::uint8_t* packed =
      kernel.packed.as<std::uint8_t>() + block * packed_block_bytes(kernel.format, k);
  switch (kernel.format) {
    case WeightFormat::fp32:
      return pack_numbers(row, reinterpret_cast<float*>(packed), feature, inputs, 1);
    case WeightFormat::bf16:
      return pack_numbers(row, reinterpret_cast<BFloat16*>(packed), feature, inputs, 2);
    case WeightFormat::fp16:
      return pack_numbers(row, reinterpret_cast<Float16*>(packed), feature, inputs, 1);
    case WeightFormat::int8:
      return pack_8_bits(row, packed, feature, inputs);
    case WeightFormat::q4:
      return pack_4_bits(row, packed, feature, inputs);
  }
}

}  // namespace

void run(device::HostStream&, const PackWeight& kernel) {
  const Index n = kernel.weight.size(0), k = kernel.weight.size(1);
  check(kernel);
  if (moves_words(kernel)) {
    for_blocks(packed_blocks(n), n * k, [&](Index block) { move_words(kernel, block); });
    return;
  }
  visit_dtype(kernel.weight.dtype, [&]<class W>() {
    for_blocks(packed_blocks(n), n * k, [&](Index block) {
      for (Index feature = 0; feature < kLanes; ++feature) {
        pack_feature<W>(kernel, block, feature);
      }
    });
  });
}

}  // namespace mpitron::kernels
