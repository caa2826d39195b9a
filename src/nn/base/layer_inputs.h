#pragma once
#include <optional>

#include "autograd/var.h"
#include "ops/attention/rotary.h"

namespace mpitron::nn {

/// Another sequence that layers with cross attention look at.
struct Memory {
  autograd::Var states;  // [s_m, b, h]
  tensor::Tensor mask;   // [b or 1, 1, s_m], u8, 1 = hidden; optional
};

/// Inputs that all layers of one forward pass share.
struct LayerInputs {
  std::optional<ops::RotaryTables> rotary;  // absent without rotary positions
  // [b or 1, s or 1, s], u8, 1 = hidden; optional. With context parallelism the rows of this rank:
  // all columns.
  tensor::Tensor attention_mask;
  // [b, s], i64: the last position that each one sees whatever causal order hides; optional. Not
  // with context parallelism.
  tensor::Tensor seen_until = {};
  // Of mixers with a state: where the document of each position of the whole sequence begins,
  // [s, b], i32; absent: at the first.
  tensor::Tensor document_starts = {};
  autograd::Var score_bias = {};  // of self attention's scores, [2 s - 1, 1, n]; optional
  std::optional<Memory> memory = {};
  // Of layers with a window; absent: the same as of the others.
  std::optional<ops::RotaryTables> window_rotary = {};
  // Of queries in layers that do not rotate, [s], fp32; absent: they stay as they are.
  tensor::Tensor query_factors = {};
};

}  // namespace mpitron::nn
