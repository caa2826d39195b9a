// Resizes tables of positions, so that a model trained on images of one size starts on another.
#include "models/vit/position_table.h"

#include <algorithm>
#include <cmath>

#include "utils/error.h"

namespace mpitron::models {
namespace {

Index whole_root(Index value) {
  const auto root = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(value))));
  return root * root == value ? root : 0;
}

/// Place of a new row or column between two old ones.
struct Between {
  Index low, high;
  float share;  // of the higher one

  Between(Index i, Index old_count, Index new_count) {
    const float ratio = static_cast<float>(old_count) / static_cast<float>(new_count);
    const float at = std::max(0.f, (static_cast<float>(i) + 0.5f) * ratio - 0.5f);
    low = std::min(static_cast<Index>(at), old_count - 1);
    high = std::min(low + 1, old_count - 1);
    share = at - static_cast<float>(low);
  }
};

}  // namespace

std::vector<float> resized_positions(const std::vector<float>& table, Index rows,
                                     const config::VisionConfig& vision) {
  const Index h = static_cast<Index>(table.size()) / std::max<Index>(rows, 1);
  const Index classes = whole_root(rows) > 0 ? 0 : vision.class_tokens;
  const Index edge = rows > classes ? whole_root(rows - classes) : 0;
  if (edge == 0) {
    throw_data("{} rows of positions are neither a square grid nor one behind {} class tokens",
               rows, vision.class_tokens);
  }
  std::vector<float> result(static_cast<std::size_t>(vision.positions() * h));
  std::copy_n(table.begin(), std::min(classes, vision.class_tokens) * h, result.begin());
  const float* grid = table.data() + classes * h;
  float* to = result.data() + vision.class_tokens * h;
  for (Index y = 0; y < vision.grid_height(); ++y) {
    const Between row(y, edge, vision.grid_height());
    for (Index x = 0; x < vision.grid_width(); ++x) {
      const Between column(x, edge, vision.grid_width());
      for (Index i = 0; i < h; ++i) {
        const auto at = [&](Index r, Index c) { return grid[(r * edge + c) * h + i]; };
        const auto along = [&](Index r) {
          return (1 - column.share) * at(r, column.low) + column.share * at(r, column.high);
        };
        *to++ = (1 - row.share) * along(row.low) + row.share * along(row.high);
      }
    }
  }
  return result;
}

}  // namespace mpitron::models
