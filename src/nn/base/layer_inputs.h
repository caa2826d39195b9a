#pragma once
#include <optional>

#include "autograd/var.h"
#include "ops/attention/rotary.h"

namespace mpitron::nn {

/// What all layers of one forward pass share.
struct LayerInputs {
  std::optional<ops::RotaryTables> rotary;  // absent without rotary positions
  // [b or 1, s or 1, s], u8, 1 = hidden; optional. With context parallelism the rows of this rank:
  // all columns.
  tensor::Tensor attention_mask;
  // Of mixers with a state: where the document of each position of the whole sequence begins,
  // [s, b], i32; absent: at the first.
  tensor::Tensor document_starts = {};
  autograd::Var relative_bias = {};  // of self attention's scores, [2 s - 1, 1, n]; optional
  // What layers with cross attention look at: [s_e, b, h], and [b or 1, 1, s_e] as above.
  autograd::Var encoder_output = {};
  tensor::Tensor encoder_mask = {};
};

}  // namespace mpitron::nn
