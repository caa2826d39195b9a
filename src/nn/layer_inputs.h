#pragma once
#include <optional>

#include "ops/rotary.h"

namespace mpitron::nn {

/// What all layers of one forward pass share.
struct LayerInputs {
  std::optional<ops::RotaryTables> rotary;  // absent without rotary positions
  // [b or 1, s, s], u8, 1 = hidden; optional. With context parallelism the rows of this rank: all
  // columns.
  tensor::Tensor attention_mask;
};

}  // namespace mpitron::nn
