#pragma once
#include "images/augment/draws.h"
#include "images/augment/random_crop.h"
#include "images/image.h"
#include "images/transforms/resample.h"

namespace mpitron::images {

/// Strengths of torchvision's ColorJitter.
struct Jitter {
  double brightness = 0.4, contrast = 0.4, saturation = 0.4, hue = 0.1;
};
/// Changes brightness, contrast, saturation and hue, in a random order.
Image jittered(const Image& image, const Jitter& jitter, const Draws& draws);

/// Makes the view that a classifier is trained on: crop, flip, jitter and AutoAugment.
Image classification_view(const Image& image, const Size& size, const Draws& draws);

/// Settings of one of DINO's views (Caron et al. 2021).
struct DinoView {
  Size size;
  CropScale scale;
  double blur_probability = 1;
  double solarise_probability = 0;
};
Image dino_view(const Image& image, const DinoView& view, const Draws& draws);

/// Channel means and deviations of pixels in [0, 1].
struct Normalisation {
  float mean[kChannels] = {0, 0, 0};
  float deviation[kChannels] = {1, 1, 1};
};
inline constexpr Normalisation kImageNet{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};

/// Writes (v / 255 - mean) / deviation as [3, height, width]; `to` holds as many.
void write_planes(const Image& image, const Normalisation& normalisation, std::span<float> to);

}  // namespace mpitron::images
