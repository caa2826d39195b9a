#pragma once
#include <array>

#include "inference/engine_interface.h"
#include "models/llava/axis_places.h"
#include "tensor/tensor.h"

namespace mpitron::inference {

/// Where the rows of a step stand on the axes of time, height and width, of a model whose images
/// have rows and columns.
class StepAxes {
 public:
  void clear();
  /// Adds `rows` rows of a sequence, its tokens and what is drafted behind them.
  void append(const SequenceStep& sequence, Index rows, const config::VlmConfig& vlm);
  /// Whether a row stands elsewhere than its position says.
  bool has_images() const { return has_images_; }
  /// [3, rows], int64; for what is queued from now on.
  tensor::Tensor on_device(device::Device& device) const;

 private:
  std::array<std::vector<std::int64_t>, models::kAxes> places_;
  bool has_images_ = false;
};

}  // namespace mpitron::inference
