#pragma once

#include "models/llava/llava_batch.h"
#include "utils/error.h"

// Rows of text with places for images.

namespace mpitron::models {

/// Tiles of 4 patches of 1 pixel; an image is 4 positions a tile.
inline const config::VlmConfig kVlm{.tower = config::TowerKind::siglip, .tile = 2, .patch = 1};

/// Two rows: an image of one tile behind one token, and no image.
struct Rows {
  std::vector<std::int64_t> tokens{7, -200, 9, 5, 6, 8}, labels{-200, 9, 1, 6, 8, 2};
  std::vector<float> mask{1, 1, 1, 1, 1, 1};
  std::vector<std::int64_t> images{1, 0}, tiles{1};
  std::vector<float> pixels = std::vector<float>(12, 0.5f);

  HostMicrobatch microbatch(Index s) const {
    return {.samples = 2,
            .sequence_length = s,
            .columns = {{kTokens, tokens},
                        {kLabels, labels},
                        {kLossMask, mask},
                        {kPixels, pixels},
                        {kImagesPerRow, images},
                        {kTilesPerImage, tiles}}};
  }
};

/// Every second number: those of one row.
template <class T>
std::vector<T> row(const std::vector<T>& values, std::size_t which) {
  std::vector<T> result;
  for (std::size_t i = which; i < values.size(); i += 2) {
    result.push_back(values[i]);
  }
  return result;
}

}  // namespace mpitron::models
