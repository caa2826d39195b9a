#pragma once
#include "images/transforms/resample.h"

namespace mpitron::images {

/// Settings by which a large image becomes tiles of one size.
struct Tiling {
  Index tile = 336;             // edge, in pixels
  Index most_tiles = 1;         // but for the thumbnail
  bool area_weighted = false;   // the grid's area counts, too, not its shape alone
  bool thumbnail = false;       // behind more than one tile: the whole image
  bool keeps_palettes = false;  // colours of a palette are not mixed when they are resized
};

/// A grid of tiles side by side and below each other.
struct TileGrid {
  Index columns = 1, rows = 1;
  bool operator==(const TileGrid&) const = default;
};

/// Returns the grid of at most `most_tiles` tiles whose shape is nearest to the image's; of two
/// equally near ones the larger, where the image has more than half as many pixels. With
/// `area_weighted` the product of how much of the image's area (up to a limit) and of its shape is
/// kept decides. Grids of one size are tried from the narrowest on.
TileGrid choose_grid(const Size& image, const Tiling& tiling);

/// Returns the image resized (bicubic) to the grid and cut, row by row; then the thumbnail.
std::vector<Image> cut_into_tiles(const Image& image, const Tiling& tiling);

}  // namespace mpitron::images
