#pragma once
#include <memory>

#include "convert/formats/tensor_source.h"
#include "convert/names/name_entry.h"

// Files in which all experts of a layer are one tensor, as those of GPT-OSS:
// `..experts.gate_up_proj` [E, h, 2f], whose columns are gate and up in turn, or all of the gate
// first (Llama 4), `gate_up_proj_bias` [E, 2f], `down_proj` [E, f, h] and `down_proj_bias` [E, h].
// In MXFP4 a matrix is two tensors of
// bytes, transposed: `_blocks` [E, rows, columns / 32, 16] with two numbers a byte, the lower half
// first, and `_scales` [E, rows, columns / 32], exponents of 2 plus 127 (OCP Microscaling Formats
// 1.0).

namespace mpitron::convert {

/// Returns each expert's tensors under names of their own: `..experts.3.gate_proj.weight` [f, h],
/// `up_proj.weight`, `down_proj.weight` [h, f], and `.bias` of each. MXFP4 is read as bf16, which
/// holds its numbers exactly. All others are as they are. Error(data) tells a shape that is none of
/// these.
std::unique_ptr<TensorSource> unstack_experts(std::unique_ptr<TensorSource> files,
                                              GateColumns order = GateColumns::in_turn);

/// Returns the inverse, of tensors named as above, which outlive the result; not in MXFP4.
std::unique_ptr<TensorSource> stack_experts(TensorSource& theirs,
                                            GateColumns order = GateColumns::in_turn);

}  // namespace mpitron::convert
