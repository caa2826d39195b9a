#include "images/transforms/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

// Pillow's two-pass resampling with its fixed-point weights: rows first, then columns, each rounded
// to 8 bits, so that pixels are PIL's to the bit.

namespace mpitron::images {
namespace {

constexpr int kWeightBits = 22;  // of a weight, behind the point

/// The triangle, and Keys' cubic with a = -0.5.
double weight_of(Filter filter, double x) {
  x = std::abs(x);
  if (filter == Filter::bilinear) {
    return x < 1 ? 1 - x : 0;
  }
  constexpr double a = -0.5;
  if (x < 1) {
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  }
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/// Weights for the numbers of the output: `count` neighbours of the input each, of which those
/// behind the edge have weight 0.
struct Taps {
  Index count = 0;
  std::vector<Index> begins;          // [outputs]
  std::vector<std::int32_t> weights;  // [outputs, count]

  const std::int32_t* of(Index output) const { return weights.data() + output * count; }
  Index begin(Index output) const { return begins[static_cast<std::size_t>(output)]; }
};

/// Makes weights as Pillow's precompute_coeffs: where the image shrinks, the filter widens with it,
/// which is the antialiasing.
Taps make_taps(Index from, Index to, Filter filter) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  const double scale = std::max(ratio, 1.0);
  const double support = (filter == Filter::bilinear ? 1 : 2) * scale;
  const auto bounds = [&](Index output) -> std::pair<Index, Index> {
    const double centre = (static_cast<double>(output) + 0.5) * ratio;
    return {std::max<Index>(0, static_cast<Index>(centre - support + 0.5)),
            std::min(from, static_cast<Index>(centre + support + 0.5))};
  };
  Taps taps;
  for (Index i = 0; i < to; ++i) {
    const auto [begin, end] = bounds(i);
    taps.count = std::max(taps.count, end - begin);
  }
  taps.weights.resize(static_cast<std::size_t>(to * taps.count));
  std::vector<double> weights;
  for (Index i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * ratio;
    const auto [begin, end] = bounds(i);
    // So that all taps lie inside.
    const Index first = std::min(begin, from - taps.count);
    taps.begins.push_back(first);
    weights.clear();
    double sum = 0;
    for (Index x = begin; x < end; ++x) {
      const double offset = static_cast<double>(x) - centre + 0.5;
      weights.push_back(weight_of(filter, offset * (1 / scale)));
      sum += weights.back();
    }
    std::int32_t* to_weights = taps.weights.data() + i * taps.count + (begin - first);
    for (const double weight : weights) {
      *to_weights++ = static_cast<std::int32_t>(
          std::round((sum != 0 ? weight / sum : weight) * (1 << kWeightBits)));
    }
  }
  return taps;
}

/// Sixteen numbers at a time: GCC's and Clang's vectors, of whatever width the machine has.
using Sums = std::int32_t __attribute__((vector_size(64)));
using Levels = std::uint8_t __attribute__((vector_size(16)));
using Words = std::uint16_t __attribute__((vector_size(32)));  // GCC 12 converts in steps of two
constexpr Index kLanes = 16;

Sums half() {
  return Sums{} + (1 << (kWeightBits - 1));
}

Sums levels_at(const std::uint8_t* from) {
  Levels levels;
  std::memcpy(&levels, from, sizeof(levels));
  return __builtin_convertvector(__builtin_convertvector(levels, Words), Sums);
}

Levels rounded(Sums sums) {
  sums >>= kWeightBits;
  sums = sums < 0 ? Sums{} : sums;
  sums = sums > 255 ? Sums{} + 255 : sums;
  return __builtin_convertvector(__builtin_convertvector(sums, Words), Levels);
}

/// Rows whose pixels are worked on together, each with room for a fourth channel.
constexpr Index kRows = 4, kSlot = kLanes / kRows;

/// Copies a pixel, and what is behind it, which is of no interest; the last of a row alone.
void copy_pixel(std::uint8_t* to, const std::uint8_t* from, bool last) {
  std::memcpy(to, from, static_cast<std::size_t>(last ? kChannels : kSlot));
}

/// Resizes the box along its rows, four rows side by side in a vector.
Image resize_rows(const Image& image, const Box& box, Index width, Filter filter) {
  const Taps taps = make_taps(box.width, width, filter);
  Image result(width, box.height);
  std::vector<std::uint8_t> lanes(static_cast<std::size_t>(box.width * kLanes));
  for (Index top = 0; top < box.height; top += kRows) {
    const Index rows = std::min(kRows, box.height - top);
    for (Index i = 0; i < rows; ++i) {
      const std::uint8_t* from = image.row(box.top + top + i) + box.left * kChannels;
      for (Index x = 0; x < box.width; ++x) {
        copy_pixel(lanes.data() + x * kLanes + i * kSlot, from + x * kChannels, x + 1 == box.width);
      }
    }
    for (Index x = 0; x < width; ++x) {
      const std::uint8_t* from = lanes.data() + taps.begin(x) * kLanes;
      const std::int32_t* weights = taps.of(x);
      Sums sums = half();
      for (Index tap = 0; tap < taps.count; ++tap) {
        sums += weights[tap] * levels_at(from + tap * kLanes);
      }
      std::uint8_t levels[kLanes];
      const Levels whole = rounded(sums);
      std::memcpy(levels, &whole, sizeof(levels));
      for (Index i = 0; i < rows; ++i) {
        copy_pixel(result.row(top + i) + x * kChannels, levels + i * kSlot, x + 1 == width);
      }
    }
  }
  return result;
}

/// Resizes the box along its columns, sixteen numbers of a row in a vector.
Image resize_columns(const Image& image, const Box& box, Index height, Filter filter) {
  const Taps taps = make_taps(box.height, height, filter);
  Image result(box.width, height);
  const Index numbers = box.width * kChannels, pitch = image.width * kChannels;
  std::uint8_t rest[kLanes] = {};
  for (Index y = 0; y < height; ++y) {
    const std::uint8_t* first = image.row(box.top + taps.begin(y)) + box.left * kChannels;
    const std::int32_t* weights = taps.of(y);
    for (Index x = 0; x < numbers; x += kLanes) {
      const auto count = static_cast<std::size_t>(std::min(kLanes, numbers - x));
      Sums sums = half();
      for (Index tap = 0; tap < taps.count; ++tap) {
        const std::uint8_t* from = first + tap * pitch + x;
        if (count < kLanes) {
          std::memcpy(rest, from, count);
          from = rest;
        }
        sums += weights[tap] * levels_at(from);
      }
      const Levels levels = rounded(sums);
      std::memcpy(result.row(y) + x, &levels, count);
    }
  }
  return result;
}

}  // namespace

Image resize(const Image& image, const Box& box, const Size& size, Filter filter) {
  const bool rows_change = size.width != box.width, columns_change = size.height != box.height;
  if (!rows_change) {
    return columns_change ? resize_columns(image, box, size.height, filter) : crop(image, box);
  }
  Image result = resize_rows(image, box, size.width, filter);
  return columns_change ? resize_columns(result, whole(result), size.height, filter) : result;
}

}  // namespace mpitron::images
