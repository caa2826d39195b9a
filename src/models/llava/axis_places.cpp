#include "models/llava/axis_places.h"

// Positions of words and images on three axes, as transformers' get_rope_index counts them.

namespace mpitron::models {

/// An image of m positions takes as many places as its edge is long, so that words behind it stand
/// so much earlier than their position says.
AxisPlaces axis_places(const config::VlmConfig& vlm, Index position, Index seen, bool of_image) {
  const Index m = vlm.positions(), edge = vlm.seen_edge();
  const Index earlier = seen / m * (m - edge);
  if (!of_image) {
    return {position - earlier, position - earlier, position - earlier};
  }
  const Index within = seen % m, start = position - within - earlier;
  return {start, start + within / edge, start + within % edge};
}

}  // namespace mpitron::models
