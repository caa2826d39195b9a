#include "kernels/linear/normal_float.h"

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

/// Packs group by group: the scale, then the codes of pairs.
void run(device::ReferenceStream&, const PackNormalFloat& kernel) {
  check_normal_float(kernel);
  const Reader weight(kernel.weight);
  const Writer codes(kernel.codes), scales(kernel.scales);
  for (Index row = 0; row < kernel.weight.size(0); ++row) {
    for (Index group = 0; group < kernel.scales.size(1); ++group) {
      const Index begin = group * kNormalFloatGroup;
      float largest = 0;
      for (Index i = begin; i < begin + kNormalFloatGroup; ++i) {
        largest = std::max(largest, std::abs(static_cast<float>(weight(row, i))));
      }
      const auto scale = static_cast<float>(normal_float_scale(largest));
      scales.set(static_cast<double>(scale), row, group);
      const float reciprocal = reciprocal_of(scale);
      for (Index i = begin; i < begin + kNormalFloatGroup; i += 2) {
        const int first = normal_float_code(static_cast<float>(weight(row, i)), reciprocal);
        const int second = normal_float_code(static_cast<float>(weight(row, i + 1)), reciprocal);
        codes.set(16 * first + second, row, i / 2);
      }
    }
  }
}

/// Unpacks element by element.
void run(device::ReferenceStream&, const UnpackNormalFloat& kernel) {
  check_normal_float(kernel);
  const Reader codes(kernel.codes), scales(kernel.scales);
  const Writer weight(kernel.weight);
  for (Index row = 0; row < kernel.weight.size(0); ++row) {
    for (Index i = 0; i < kernel.weight.size(1); ++i) {
      const auto pair = static_cast<unsigned>(codes(row, i / 2));
      const float value = kNormalFloats[i % 2 == 0 ? pair >> 4 : pair & 15];
      const auto scale = static_cast<float>(scales(row, i / kNormalFloatGroup));
      weight.set(static_cast<double>(value * scale), row, i);
    }
  }
}

}  // namespace mpitron::kernels
