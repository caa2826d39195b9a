#pragma once
#include <memory>
#include <string_view>

#include "convert/formats/tensor_source.h"

// Encoders that see two frames of a film at once: `..patch_embed.proj.weight`
// [h, channels, 2, edge, edge]. An image is two equal frames, so that both matrices are one, their
// sum.

namespace mpitron::convert {

/// Whether files of a family have such a tensor.
bool has_two_frames(std::string_view model_type);

/// Returns the tensors with the frames of that one added, [h, channels, edge, edge], rounded to its
/// type; all others are as they are.
std::unique_ptr<TensorSource> fold_frames(std::unique_ptr<TensorSource> files);

/// Returns the inverse, of tensors that outlive the result: the whole in the first frame and zeros
/// in the second, whose sum has the same bits.
std::unique_ptr<TensorSource> unfold_frames(TensorSource& theirs);

}  // namespace mpitron::convert
