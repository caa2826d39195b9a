#include "images/transforms/resample.h"

#include <algorithm>
#include <cstring>

#include "images/transforms/resample_taps.h"

// Pillow's two-pass resampling with its fixed-point weights: rows first, then columns, each rounded
// to 8 bits, so that pixels are PIL's to the bit.

namespace mpitron::images {
namespace {

/// Sixteen numbers at a time: GCC's and Clang's vectors, of whatever width the machine has.
using Sums = std::int32_t __attribute__((vector_size(64)));
using Levels = std::uint8_t __attribute__((vector_size(16)));
using Words = std::uint16_t __attribute__((vector_size(32)));  // GCC 12 converts in steps of two
constexpr Index kLanes = 16;

Sums half() {
  return Sums{} + (1 << (kTapBits - 1));
}

Sums levels_at(const std::uint8_t* from) {
  Levels levels;
  std::memcpy(&levels, from, sizeof(levels));
  return __builtin_convertvector(__builtin_convertvector(levels, Words), Sums);
}

Levels rounded(Sums sums) {
  sums >>= kTapBits;
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
  const ResampleTaps taps = make_taps(box.width, width, filter);
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
  const ResampleTaps taps = make_taps(box.height, height, filter);
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
