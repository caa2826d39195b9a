#pragma once
#include <vector>

#include "config/vision_config.h"
#include "images/image.h"

namespace mpitron::data {

/// Appends an image as the encoder of a vlm wants it: cut into tiles, resized and normalised,
/// [tiles, 3, tile, tile].
void append_tiles(const images::Image& image, const config::VlmConfig& vlm,
                  std::vector<float>& planes);

}  // namespace mpitron::data
