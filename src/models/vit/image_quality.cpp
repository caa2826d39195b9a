// Measures painted images by PSNR and SSIM (Wang et al. 2004, Gaussian window) on the host; both
// are told and never trained.
#include "models/vit/image_quality.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace mpitron::models {
namespace {

/// One channel of one image, both sides.
struct Planes {
  Index height, width;
  std::vector<double> painted, target;
};

/// Cuts out what is behind the mask, as planes; 0 elsewhere.
std::vector<Planes> masked_planes(const PaintedPatches& patches,
                                  const config::VisionConfig& vision) {
  const Index samples = patches.painted.shape()[1], edge = vision.patch;
  const auto plane = static_cast<std::size_t>(vision.image_height * vision.image_width);
  std::vector<Planes> planes(static_cast<std::size_t>(samples * vision.channels),
                             {vision.image_height, vision.image_width, std::vector<double>(plane),
                              std::vector<double>(plane)});
  for (Index i = 0; i < patches.painted.numel(); ++i) {
    const Index within = i % vision.patch_width(), row = i / vision.patch_width();
    const Index sample = row % samples, patch = row / samples;
    if (patches.mask.data<float>()[row] == 0) {
      continue;
    }
    const Index channel = within % vision.channels, pixel = within / vision.channels;
    const Index y = patch / vision.grid_width() * edge + pixel / edge;
    const Index x = patch % vision.grid_width() * edge + pixel % edge;
    Planes& to = planes[static_cast<std::size_t>(sample * vision.channels + channel)];
    const auto at = static_cast<std::size_t>(y * vision.image_width + x);
    to.painted[at] = static_cast<double>(patches.painted.data<float>()[i]);
    to.target[at] = static_cast<double>(patches.target.data<float>()[i]);
  }
  return planes;
}

double peak_signal_to_noise(const std::vector<Planes>& planes) {
  double sum = 0, count = 0;
  for (const Planes& plane : planes) {
    for (std::size_t i = 0; i < plane.painted.size(); ++i) {
      sum += std::pow(plane.painted[i] - plane.target[i], 2);
    }
    count += static_cast<double>(plane.painted.size());
  }
  return 10 * std::log10(count / sum);
}

using Window = std::array<double, kSsimWindow>;

Window gaussian() {
  constexpr double kDeviation = 1.5;
  Window window;
  double sum = 0;
  for (Index i = 0; i < kSsimWindow; ++i) {
    const double distance = static_cast<double>(i - kSsimWindow / 2);
    double& weight = window[static_cast<std::size_t>(i)];
    weight = std::exp(-distance * distance / (2 * kDeviation * kDeviation));
    sum += weight;
  }
  for (double& weight : window) {
    weight /= sum;
  }
  return window;
}

/// Weighted means of two signals, of their squares and of their product.
struct Moments {
  double a = 0, b = 0, aa = 0, bb = 0, ab = 0;
};

Moments moments(const Planes& plane, Index top, Index left, const Window& window) {
  Moments m;
  for (Index y = 0; y < kSsimWindow; ++y) {
    for (Index x = 0; x < kSsimWindow; ++x) {
      const double weight =
          window[static_cast<std::size_t>(y)] * window[static_cast<std::size_t>(x)];
      const auto at = static_cast<std::size_t>((top + y) * plane.width + left + x);
      const double a = plane.painted[at], b = plane.target[at];
      m.a += weight * a;
      m.b += weight * b;
      m.aa += weight * a * a;
      m.bb += weight * b * b;
      m.ab += weight * a * b;
    }
  }
  return m;
}

/// Largest minus smallest value that the signal is taken to have.
double range_of(const std::vector<Planes>& planes) {
  double largest = -INFINITY, smallest = INFINITY;
  for (const Planes& plane : planes) {
    const auto [low, high] = std::ranges::minmax(plane.painted);
    largest = std::max(largest, high);
    smallest = std::min(smallest, low);
  }
  return (largest > 128 ? 255 : 1) - (smallest < -0.5 ? -1 : 0);
}

double structural_similarity(const std::vector<Planes>& planes) {
  const double range = range_of(planes);
  const double c1 = std::pow(0.01 * range, 2), c2 = std::pow(0.03 * range, 2);
  const Window window = gaussian();
  double sum = 0, count = 0;
  for (const Planes& plane : planes) {
    for (Index top = 0; top + kSsimWindow <= plane.height; ++top) {
      for (Index left = 0; left + kSsimWindow <= plane.width; ++left) {
        const Moments m = moments(plane, top, left, window);
        const double spread_a = m.aa - m.a * m.a, spread_b = m.bb - m.b * m.b;
        const double together = m.ab - m.a * m.b;
        sum += (2 * m.a * m.b + c1) * (2 * together + c2) /
               ((m.a * m.a + m.b * m.b + c1) * (spread_a + spread_b + c2));
        ++count;
      }
    }
  }
  return sum / count;
}

}  // namespace

ImageQuality image_quality(const PaintedPatches& patches, const config::VisionConfig& vision) {
  const std::vector<Planes> planes = masked_planes(patches, vision);
  ImageQuality quality{.psnr = peak_signal_to_noise(planes), .ssim = {}};
  if (std::min(vision.image_height, vision.image_width) >= kSsimWindow) {
    quality.ssim = structural_similarity(planes);
  }
  return quality;
}

}  // namespace mpitron::models
