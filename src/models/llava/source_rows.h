#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "models/llava/llava_batch.h"

namespace mpitron::models {

/// Returns the number of tiles of all rows.
inline Index count_tiles(const HostMicrobatch& microbatch) {
  const std::span<const std::int64_t> tiles = microbatch[kTilesPerImage];
  return std::accumulate(tiles.begin(), tiles.end(), Index{0});
}

/// Texts and tiles as rows of one matrix: [t, b] of text, then each rank's tiles, [m, T / ranks].
class SourceRows {
 public:
  SourceRows(const HostMicrobatch& microbatch, const config::VlmConfig& vlm,
             const MergeShare& share)
      : samples_(microbatch.samples), positions_(vlm.positions()) {
    const Index tokens = static_cast<Index>(microbatch[kTokens].size()) / samples_;
    text_ = (tokens + share.text_multiple - 1) / share.text_multiple * share.text_multiple;
    const Index least = vlm.tower_always_runs ? 1 : 0;
    const Index tiles = std::max(count_tiles(microbatch), least);
    tiles_ = (tiles + share.tile_ranks - 1) / share.tile_ranks;
    all_ = text_ * samples_ + positions_ * tiles_ * share.tile_ranks;
  }

  Index text_length() const { return text_; }
  Index tiles_of_rank() const { return tiles_; }
  Index size() const { return all_; }
  Index of_token(Index row, Index j) const { return j * samples_ + row; }
  Index of_tile(Index tile, Index position) const {
    const Index rank = tile / tiles_;
    return text_ * samples_ + (rank * positions_ + position) * tiles_ + tile % tiles_;
  }

 private:
  Index samples_, positions_;
  Index text_ = 0, tiles_ = 0, all_ = 0;
};

/// Each turn, a run of learned positions in a row, counts the square root of its length; all
/// together as much as before.
void weigh_turns(std::vector<float>& loss_mask, Index samples);

}  // namespace mpitron::models
