#include "inference/step_axes.h"

#include "inference/step_tables.h"

// Counts places from what a sequence has seen before a step, so that steps may end within an image,
// and begin behind what others have computed.

namespace mpitron::inference {

void StepAxes::clear() {
  has_images_ = false;
  for (std::vector<std::int64_t>& axis : places_) {
    axis.clear();
  }
}

void StepAxes::append(const SequenceStep& sequence, Index rows, const config::VlmConfig& vlm) {
  Index seen = sequence.seen;
  for (Index i = 0; i < rows; ++i) {
    const bool drafted = i >= static_cast<Index>(sequence.tokens.size());
    const bool of_image = !drafted && sequence.tokens[static_cast<std::size_t>(i)] < 0;
    const models::AxisPlaces row =
        models::axis_places(vlm, sequence.first_position + i, seen, of_image);
    for (std::size_t axis = 0; axis < row.size(); ++axis) {
      places_[axis].push_back(row[axis]);
    }
    seen += of_image ? 1 : 0;
  }
  has_images_ = has_images_ || seen > 0;
}

tensor::Tensor StepAxes::on_device(device::Device& device) const {
  std::vector<std::int64_t> all;
  for (const std::vector<std::int64_t>& axis : places_) {
    all.insert(all.end(), axis.begin(), axis.end());
  }
  const auto axes = static_cast<Index>(places_.size());
  return inference::on_device(device, all).reshape({axes, static_cast<Index>(all.size()) / axes});
}

}  // namespace mpitron::inference
