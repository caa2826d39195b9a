#include "utils/numbers/torch_random.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace mpitron {
namespace {

constexpr std::size_t kBlock = 16;

/// Box-Muller on 16 uniform values: element j pairs with j + 8.
void transform_block(std::span<float> x, float mean, float std) {
  for (std::size_t j = 0; j < kBlock / 2; ++j) {
    const float u1 = 1.0f - x[j];  // (0, 1]: the logarithm is finite
    const float radius = std::sqrt(-2.0f * std::log(u1));
    const float theta = 2.0f * std::numbers::pi_v<float> * x[j + 8];
    x[j] = radius * std::cos(theta) * std + mean;
    x[j + 8] = radius * std::sin(theta) * std + mean;
  }
}

}  // namespace

std::uint64_t TorchGenerator::bits64() {
  const std::uint64_t high = bits32();
  return high << 32 | bits32();
}

void TorchGenerator::permutation(std::span<std::int64_t> out) {
  std::iota(out.begin(), out.end(), std::int64_t{0});
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    std::swap(out[i], out[i + bits32() % (out.size() - i)]);
  }
}

std::vector<std::int64_t> TorchGenerator::permutation(std::int64_t n) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(n));
  permutation(out);
  return out;
}

void TorchGenerator::uniform(std::span<float> out, float low, float high) {
  for (float& value : out) {
    // torch's build contracts this to one rounding.
    value = std::fma(uniform(), high - low, low);
  }
}

void TorchGenerator::normal(std::span<float> out, float mean, float std) {
  if (out.size() < kBlock) {
    return normal_scalar(out, mean, std);
  }
  uniform(out, 0.0f, 1.0f);
  std::size_t i = 0;
  for (; i + kBlock <= out.size(); i += kBlock) {
    transform_block(out.subspan(i, kBlock), mean, std);
  }
  if (i < out.size()) {  // the last 16 elements are drawn anew, those already transformed included
    uniform(out.last(kBlock), 0.0f, 1.0f);
    transform_block(out.last(kBlock), mean, std);
  }
}

void TorchGenerator::normal_scalar(std::span<float> out, float mean, float std) {
  double next = 0.0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    double value = next;
    if (i % 2 == 0) {
      const double u1 = uniform53();
      const double u2 = uniform53();
      const double radius = std::sqrt(-2.0 * std::log1p(-u2));
      value = radius * std::cos(2.0 * std::numbers::pi * u1);
      next = radius * std::sin(2.0 * std::numbers::pi * u1);
    }
    out[i] = static_cast<float>(value * static_cast<double>(std) + static_cast<double>(mean));
  }
}

}  // namespace mpitron
