#include "images/transforms/resample.h"

#include <algorithm>
#include <cmath>

namespace mpitron::images {
namespace {

constexpr int kWeightBits = 22;  // of a weight, behind the point

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

/// What one number of the output is made of.
struct Taps {
  Index begin = 0;
  std::vector<Index> weights;
};

std::vector<Taps> make_taps(Index from, Index to, Filter filter) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  const double scale = std::max(ratio, 1.0);
  const double support = (filter == Filter::bilinear ? 1 : 2) * scale;
  std::vector<Taps> result(static_cast<std::size_t>(to));
  for (Index i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * ratio;
    Taps& taps = result[static_cast<std::size_t>(i)];
    taps.begin = std::max<Index>(0, static_cast<Index>(centre - support + 0.5));
    const Index end = std::min(from, static_cast<Index>(centre + support + 0.5));
    std::vector<double> weights;
    double sum = 0;
    for (Index x = taps.begin; x < end; ++x) {
      const double offset = static_cast<double>(x) - centre + 0.5;
      weights.push_back(weight_of(filter, offset * (1 / scale)));
      sum += weights.back();
    }
    for (const double weight : weights) {
      taps.weights.push_back(
          static_cast<Index>(std::round((sum != 0 ? weight / sum : weight) * (1 << kWeightBits))));
    }
  }
  return result;
}

std::uint8_t rounded(Index sum) {
  return clamped((sum + (Index{1} << (kWeightBits - 1))) >> kWeightBits);
}

Image resize_rows(const Image& image, Index width, Filter filter) {
  const std::vector<Taps> taps = make_taps(image.width, width, filter);
  Image result(width, image.height);
  for (Index y = 0; y < image.height; ++y) {
    std::uint8_t* to = result.row(y);
    for (const Taps& tap : taps) {
      const std::uint8_t* from = image.row(y) + tap.begin * kChannels;
      Index sums[kChannels] = {};
      for (const Index weight : tap.weights) {
        for (Index& sum : sums) {
          sum += weight * *from++;
        }
      }
      for (const Index sum : sums) {
        *to++ = rounded(sum);
      }
    }
  }
  return result;
}

Image resize_columns(const Image& image, Index height, Filter filter) {
  const std::vector<Taps> taps = make_taps(image.height, height, filter);
  Image result(image.width, height);
  std::vector<Index> sums(static_cast<std::size_t>(image.width * kChannels));
  for (Index y = 0; y < height; ++y) {
    const Taps& tap = taps[static_cast<std::size_t>(y)];
    std::ranges::fill(sums, 0);
    for (std::size_t i = 0; i < tap.weights.size(); ++i) {
      const std::uint8_t* from = image.row(tap.begin + static_cast<Index>(i));
      const Index weight = tap.weights[i];
      for (Index& sum : sums) {
        sum += weight * *from++;
      }
    }
    std::ranges::transform(sums, result.row(y), rounded);
  }
  return result;
}

}  // namespace

Image crop(const Image& image, const Box& box) {
  Image result(box.width, box.height);
  for (Index y = 0; y < box.height; ++y) {
    std::copy_n(image.row(box.top + y) + box.left * kChannels, box.width * kChannels,
                result.row(y));
  }
  return result;
}

Image mirrored(const Image& image) {
  Image result(image.width, image.height);
  for (Index y = 0; y < image.height; ++y) {
    for (Index x = 0; x < image.width; ++x) {
      std::copy_n(image.row(y) + x * kChannels, kChannels,
                  result.row(y) + (image.width - 1 - x) * kChannels);
    }
  }
  return result;
}

Image resize(const Image& image, const Box& box, const Size& size, Filter filter) {
  Image result = crop(image, box);
  if (size.width != result.width) {
    result = resize_rows(result, size.width, filter);
  }
  if (size.height != result.height) {
    result = resize_columns(result, size.height, filter);
  }
  return result;
}

}  // namespace mpitron::images
