#pragma once
#include <vector>

#include "config/vision_config.h"
#include "models/base/batch.h"

namespace mpitron::models {

// Of texts with images, [b, t] of text, whose pixels are those of all tiles; T tiles in all:
inline constexpr Field<std::int64_t> kImagesPerRow{"images_per_row"};    // [b]
inline constexpr Field<std::int64_t> kTilesPerImage{"tiles_per_image"};  // in the order of the rows
inline constexpr Field<std::int64_t> kSegments{"segments"};  // [b, t]: the text of its row
// Of the batch alone:
inline constexpr Field<float> kTiles{"tiles"};
inline constexpr Field<std::int64_t> kMergedRows{"merged_rows"};
inline constexpr Field<std::int64_t> kMergedFrom{"merged_from"};
inline constexpr Field<std::int64_t> kSeenUntil{"seen_until"};  // [b, s]; absent: none
// Of the rows of a pass on the axes of time, height and width, [3, s b]; absent: each stands where
// it is.
inline constexpr Field<std::int64_t> kAxisPlaces{"axis_places"};
// Of a cached pass over [t, 1] tokens: rows of images in the model's type, [n, h], and of each
// token which row of the words, [t, h], and then of these it is, [t].
inline constexpr Field<float> kSeenRows{"seen_rows"};
inline constexpr Field<std::int64_t> kSeenChoice{"seen_choice"};

/// Lists what a GPT that sees images reads of a batch: tokens and position_ids of the text, [t, b],
/// labels and loss_mask of the merged rows, [s, b], tiles, [patches, T, 3 P P] in the order
/// channel, row, column; merged_rows and merged_from as MergedRows has them; where several texts
/// share a row, an attention_mask; where positions of an image see each other, seen_until; where
/// they stand at rows and columns, axis_places.
std::span<const std::string_view> llava_fields();

/// Tokens and images of a microbatch in one sequence each: where a token stands for an image come
/// the positions of its tiles.
struct MergedRows {
  std::vector<std::int64_t> rows;      // [s, b]: rows of text [t, b], then of tiles; -1: none
  std::vector<std::int64_t> from;      // [t b + m T]: where they went; -1: nowhere
  std::vector<std::int64_t> labels;    // [s, b]; -100 where nothing is to be predicted
  std::vector<float> loss_mask;        // [s, b]; 0 on images, on the token before one, and behind
  std::vector<std::int64_t> segments;  // of all positions, [s, b]: which text of the row; -1: none
  // [b, s]: of a position of an image the last of those side by side, else itself.
  std::vector<std::int64_t> seen_until;
  std::vector<std::int64_t> axis_places;  // [3, s, b], where images have rows and columns
  double loss_tokens = 0;                 // sum of the mask over all positions
};

/// Share of a microbatch that a rank computes.
struct MergeShare {
  SequenceSlice slice;      // the positions of every merged sequence that it has
  Index text_multiple = 1;  // texts are filled up to a multiple of so many tokens
  Index tile_ranks = 1;     // ranks that share the tiles evenly, each [m, T / ranks] rows of them
  Index tile_rank = 0;
  bool has_axes = false;  // positions of an image stand at its rows and columns
};

struct TileRange {
  Index first = 0, count = 0;
};

/// `s`: positions of the language model; what is behind them is cut off. Error(data) where the
/// images of a row are not those of its tokens.
MergedRows merge_images(const HostMicrobatch& microbatch, const config::VlmConfig& vlm, Index s,
                        const MergeShare& share = {});

/// Puts the rank's positions on the device, with its tiles as patches.
Batch llava_batch(device::Device& device, const HostMicrobatch& microbatch,
                  const config::VlmConfig& vlm, const MergeShare& share = {});

/// Cuts tiles [T, 3, H, W], `count` from `first` on, into patches, [patches, count, 3 P P]; zeros
/// where there are no more.
tensor::Tensor tile_patches(device::Device& device, std::span<const float> pixels,
                            const config::VlmConfig& vlm, const TileRange& range);

}  // namespace mpitron::models
