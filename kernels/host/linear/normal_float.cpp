// Packs and unpacks weights in NormalFloats of 4 bits (Dettmers et al. 2023, QLoRA) on the host.
// Groups do not cross rows, so rows are shared out over threads.
#include "kernels/linear/normal_float.h"

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;

/// The two values of a byte of codes.
struct ValuePair {
  float first, second;
};

/// Tabulates all bytes, so that reading one gives two weights.
constexpr std::array<ValuePair, 256> value_pairs() {
  std::array<ValuePair, 256> pairs{};
  for (std::size_t byte = 0; byte < pairs.size(); ++byte) {
    pairs[byte] = {kNormalFloats[byte >> 4], kNormalFloats[byte & 15]};
  }
  return pairs;
}
constexpr std::array<ValuePair, 256> kValuePairs = value_pairs();

constexpr Index kPairs = kNormalFloatGroup / 2;

/// Packs a group of weights and returns its scale. The scale is rounded to fp16 first, and codes
/// are chosen for the rounded one.
template <class W>
Float16 pack_group(const W* weight, std::uint8_t* codes) {
  float largest = 0;
  for (Index i = 0; i < kNormalFloatGroup; ++i) {
    largest = std::max(largest, std::abs(static_cast<float>(weight[i])));
  }
  const Float16 scale = normal_float_scale(largest);
  const auto wide = static_cast<float>(scale);
  const float reciprocal = reciprocal_of(wide);
  for (Index i = 0; i < kPairs; ++i) {
    const int first = normal_float_code(static_cast<float>(weight[2 * i]), reciprocal);
    const int second = normal_float_code(static_cast<float>(weight[2 * i + 1]), reciprocal);
    codes[i] = static_cast<std::uint8_t>(16 * first + second);
  }
  return scale;
}

template <class W>
void unpack_group(const std::uint8_t* codes, float scale, W* weight) {
  for (Index i = 0; i < kPairs; ++i) {
    const ValuePair pair = kValuePairs[codes[i]];
    weight[2 * i] = W(pair.first * scale);
    weight[2 * i + 1] = W(pair.second * scale);
  }
}

/// Calls f(row's weights, its codes, its scales) for all rows, on threads.
template <class Kernel, class F>
void for_weight_rows(const Kernel& kernel, F&& f) {
  check_normal_float(kernel);
  visit_dtype(kernel.weight.dtype, [&]<class W>() {
    for_blocks(kernel.weight.size(0), kernel.weight.numel(), [&](Index row) {
      f(kernel.weight.template as<W>() + row * kernel.weight.stride(0),
        kernel.codes.template as<std::uint8_t>() + row * kernel.codes.stride(0),
        kernel.scales.template as<Float16>() + row * kernel.scales.stride(0));
    });
  });
}

}  // namespace

/// Packs rows, each on one thread.
void run(device::HostStream&, const PackNormalFloat& kernel) {
  for_weight_rows(kernel, [&](const auto* weight, std::uint8_t* codes, Float16* scales) {
    for (Index group = 0; group < kernel.scales.size(1); ++group) {
      scales[group] = pack_group(weight + group * kNormalFloatGroup, codes + group * kPairs);
    }
  });
}

/// Unpacks rows, each on one thread; a byte gives a pair of weights.
void run(device::HostStream&, const UnpackNormalFloat& kernel) {
  for_weight_rows(kernel, [&](auto* weight, const std::uint8_t* codes, const Float16* scales) {
    for (Index group = 0; group < kernel.scales.size(1); ++group) {
      unpack_group(codes + group * kPairs, static_cast<float>(scales[group]),
                   weight + group * kNormalFloatGroup);
    }
  });
}

}  // namespace mpitron::kernels
