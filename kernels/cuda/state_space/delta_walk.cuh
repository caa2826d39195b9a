#pragma once
#include "kernels/cuda/state_space/delta.cuh"

// What both directions of the delta rule share of a block's walk over the pieces of a sample.

namespace mpitron::kernels::cuda::delta {

/// Walks with 64 columns of a head's state, or of its gradient, in shared memory: one block for
/// each slice, head and sample.
template <class T>
class SliceWalker {
 protected:
  __device__ SliceWalker(const Inputs<T>& in, const Pairs& pairs, const AddedRoom& room)
      : in_(in),
        pairs_(pairs),
        room_(room),
        slice_(in, static_cast<int>(blockIdx.x) % in.slices()),
        head_(static_cast<int>(blockIdx.x) / in.slices()),
        sample_(static_cast<int>(blockIdx.y)) {}

  __device__ void clear_state() const {
    for (int e = static_cast<int>(threadIdx.x); e < whole(in_.keys) * kColumns;
         e += kProductThreads) {
      room_.state(e / kColumns, e % kColumns) = 0;
    }
  }

  /// Keeps the state as it is at this end of a piece among `states`; loads queries, keys and pairs.
  __device__ void begin_piece(const Piece& piece, float* states) const {
    const Index place = in_.place(piece.number, sample_, head_);
    store_tile(room_.state,
               rows_of_state(states + place * in_.state(), in_.keys, in_.values, slice_));
    in_.load_unit(room_.q, in_.q, piece, sample_, head_);
    in_.load_unit(room_.k, in_.k, piece, sample_, head_);
    load_tile(room_.inverse, kPiece, rows_of_pairs<const float>(pairs_.inverse + place * kPairs));
    load_tile(room_.seen, kPiece, rows_of_pairs<const float>(pairs_.seen + place * kPairs));
  }

  const Inputs<T>& in_;
  const Pairs& pairs_;
  const AddedRoom& room_;
  const Slice slice_;
  const int head_, sample_;
};

}  // namespace mpitron::kernels::cuda::delta
