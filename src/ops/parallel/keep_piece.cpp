// Keeps a piece of an activation on each rank of a tensor parallel group between forward and
// recomputation, and gathers it again: memory for one gather a layer.
#include "ops/parallel/keep_piece.h"

#include "ops/parallel/collectives.h"

namespace mpitron::ops {

KeepPiece::Kept KeepPiece::operator()(Context& context, const Tensor& input) const {
  if (!shared.shared()) {
    return {input, input.shape(), nullptr};
  }
  const Tensor flat = input.reshape({input.numel()});
  return {piece_of_first(context, flat, *shared.group), input.shape(), shared.group};
}

Tensor KeepPiece::Kept::operator()(Context& context) const {
  return group == nullptr ? piece : join_first(context, piece, *group).reshape(shape);
}

}  // namespace mpitron::ops
