#include "images/transforms/tiles.h"

#include <algorithm>
#include <cmath>

// Cuts large images into tiles as InternVL and NVLM do: a grid near the image's shape, and the
// whole image once more as a thumbnail.

namespace mpitron::images {
namespace {

/// Lists grids in the order in which they are tried: by their number of tiles, then by their
/// columns.
std::vector<TileGrid> grids_of(Index most_tiles) {
  std::vector<TileGrid> grids;
  for (Index tiles = 1; tiles <= most_tiles; ++tiles) {
    for (Index columns = 1; columns <= tiles; ++columns) {
      if (tiles % columns == 0) {
        grids.push_back({columns, tiles / columns});
      }
    }
  }
  return grids;
}

/// An image as it is held against grids.
struct Candidate {
  double area, shape;  // pixels; width by height

  explicit Candidate(const Size& image)
      : area(static_cast<double>(image.width) * static_cast<double>(image.height)),
        shape(static_cast<double>(image.width) / static_cast<double>(image.height)) {}

  static double shape_of(const TileGrid& grid) {
    return static_cast<double>(grid.columns) / static_cast<double>(grid.rows);
  }
  double distance(const TileGrid& grid) const { return std::abs(shape - shape_of(grid)); }
  static double pixels(const TileGrid& grid, Index tile) {
    return static_cast<double>(tile * tile * grid.columns * grid.rows);
  }
  /// Returns how much of area and shape a grid keeps.
  double worth(const TileGrid& grid, Index tile) const {
    constexpr double kEnoughArea = 0.6;
    const double other = shape_of(grid);
    return std::min(pixels(grid, tile) / area, kEnoughArea) *
           std::min(other / shape, shape / other);
  }
};

Image resized(const Image& image, const Size& size, const Tiling& tiling) {
  return tiling.keeps_palettes && image.has_palette ? resize_to_nearest(image, size)
                                                    : resize(image, size, Filter::bicubic);
}

}  // namespace

TileGrid choose_grid(const Size& image, const Tiling& tiling) {
  const Candidate candidate(image);
  TileGrid best;
  double best_distance = INFINITY, best_worth = 0;
  for (const TileGrid& grid : grids_of(tiling.most_tiles)) {
    const double distance = candidate.distance(grid), worth = candidate.worth(grid, tiling.tile);
    const bool nearer =
        distance < best_distance ||
        (distance == best_distance && candidate.area > 0.5 * Candidate::pixels(grid, tiling.tile));
    if (tiling.area_weighted ? worth > best_worth : nearer) {
      best = grid;
    }
    best_distance = std::min(best_distance, distance);
    best_worth = std::max(best_worth, worth);
  }
  return best;
}

std::vector<Image> cut_into_tiles(const Image& image, const Tiling& tiling) {
  const TileGrid grid = choose_grid({image.width, image.height}, tiling);
  const Index edge = tiling.tile;
  const Image whole = resized(image, {edge * grid.columns, edge * grid.rows}, tiling);
  std::vector<Image> tiles;
  for (Index row = 0; row < grid.rows; ++row) {
    for (Index column = 0; column < grid.columns; ++column) {
      tiles.push_back(crop(whole, {column * edge, row * edge, edge, edge}));
    }
  }
  if (tiling.thumbnail && tiles.size() > 1) {
    tiles.push_back(resized(image, {edge, edge}, tiling));
  }
  return tiles;
}

}  // namespace mpitron::images
