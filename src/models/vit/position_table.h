#pragma once
#include <vector>

#include "config/vision_config.h"

namespace mpitron::models {

/// A table of learned positions [rows, h], fp32, for images of another size: class rows are taken
/// as they are (zeros where the table has none), the rest is a square grid that is resized
/// bilinearly, without antialiasing. Error(data) where what is left of `rows` is no square.
///
/// Numerical contract: fp32; source = (i + 0.5) old / new - 0.5, not below 0, neighbours beyond the
/// edge are the edge's.
std::vector<float> resized_positions(const std::vector<float>& table, Index rows,
                                     const config::VisionConfig& vision);

}  // namespace mpitron::models
