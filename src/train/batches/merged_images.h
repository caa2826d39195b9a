#pragma once
#include <vector>

#include "train/batches/microbatch.h"

namespace mpitron::train {

/// Tokens and images of a microbatch in one sequence each: where a token stands for an image come
/// the positions of its tiles.
struct MergedRows {
  std::vector<std::int64_t> rows;    // [s, b]: rows of text [t, b], then of tiles [m, T]; -1: none
  std::vector<std::int64_t> from;    // [t b + m T]: where they went; -1: nowhere
  std::vector<std::int64_t> labels;  // [s, b]; -100 where nothing is to be predicted
  std::vector<float> loss_mask;      // [s, b]; 0 on images, on the token before one, and behind
};

/// The token that stands for an image.
inline constexpr std::int64_t kImageToken = -200;

/// `s`: positions of the language model; what is behind them is cut off. Error(data) where the
/// images of a row are not those of its tokens.
MergedRows merge_images(const HostMicrobatch& microbatch, Index s);

/// The same on the device, with the tiles as patches [n, T, 3 P P] in the order channel, row,
/// column.
models::Batch upload_merged(device::Device& device, const HostMicrobatch& microbatch);

}  // namespace mpitron::train
