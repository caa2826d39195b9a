#pragma once
#include <array>
#include <cstdint>

#include "config/vision_config.h"

namespace mpitron::models {

inline constexpr std::size_t kAxes = 3;  // time, height, width
/// Where a row stands on each of them.
using AxisPlaces = std::array<std::int64_t, kAxes>;

/// Returns where the row at `position` of a sequence stands, behind `seen` rows of images: a word
/// at one place of all axes, a row of an image at one time and at its own height and width. What
/// follows an image goes on behind the larger of its edges (Qwen2-VL, Wang et al. 2024). All images
/// are one tile of the same size, vlm.seen_edge() rows and columns of positions.
AxisPlaces axis_places(const config::VlmConfig& vlm, Index position, Index seen, bool of_image);

}  // namespace mpitron::models
