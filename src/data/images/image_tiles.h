#pragma once
#include <vector>

#include "config/vision_config.h"
#include "images/image.h"

namespace mpitron::data {

/// An image as the encoder of a vlm wants it: cut into tiles, resized and normalised, [tiles, 3,
/// tile, tile].
std::vector<float> image_tiles(const images::Image& image, const config::VlmConfig& vlm);

}  // namespace mpitron::data
