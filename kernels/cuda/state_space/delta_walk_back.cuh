#pragma once
#include "kernels/cuda/state_space/delta_walk.cuh"

// The first steps of the delta rule's backward pass: what positions add to states, made again, and
// the walk back over pieces with the gradient of a state.

namespace mpitron::kernels::cuda::delta {

/// What the first steps read, and what they leave for the last one: d and, before beta, the
/// gradient of what U takes, rows [s, b, heads v] of fp32; gradients of the states behind pieces.
template <class T>
struct Steps {
  Inputs<T> in;
  Positions<const T> d_o;
  const float* states;
  Positions<float> added, given;
  Pairs pairs;
  float* behind;
};

/// d of a slice in a piece.
template <class T>
__global__ __launch_bounds__(kProductThreads) void delta_added(const __grid_constant__ Steps<T> a) {
  SharedRoom memory(dynamic_shared<std::byte>());
  const Inputs<T>& in = a.in;
  const AddedRoom room(memory, in.keys);
  const Slice slice(in, static_cast<int>(blockIdx.x) % in.slices());
  const int head = static_cast<int>(blockIdx.x) / in.slices();
  const int sample = static_cast<int>(blockIdx.y);
  const Piece piece = in.pieces(blockIdx.z);
  const Index place = in.place(piece.number, sample, head);
  in.load_unit(room.k, in.k, piece, sample, head);
  load_tile(room.state, in.keys,
            rows_of_state(a.states + place * in.state(), in.keys, in.values, slice));
  load_tile(room.inverse, kPiece, rows_of_pairs<const float>(a.pairs.inverse + place * kPairs));
  room.add(in, piece, sample, head, slice);
  store_tile(room.added, rows_of_slice(a.added, piece, sample, head, in.values, slice));
}

/// Walks back with the gradient of a slice of a state.
template <class T>
class BackWalker : SliceWalker<T> {
  using SliceWalker<T>::in_, SliceWalker<T>::room_, SliceWalker<T>::slice_, SliceWalker<T>::head_,
      SliceWalker<T>::sample_;

 public:
  __device__ BackWalker(const Steps<T>& a, const AddedRoom& room)
      : SliceWalker<T>(a.in, a.pairs, room), a_(a) {}

  __device__ void run() const {
    this->clear_state();
    for (Index number = in_.pieces.count - 1; number >= 0; --number) {
      __syncthreads();  // the gradient is whole
      run_piece(in_.pieces(number));
    }
  }

 private:
  __device__ void load(const Piece& piece) const {
    this->begin_piece(piece, a_.behind);
    load_tile(room_.given, kPiece,
              rows_of_slice(a_.d_o, piece, sample_, head_, in_.values, slice_));
    in_.load_beta(room_.beta, piece, sample_, head_);
    in_.fade(room_.fading, piece, sample_, head_);
  }
  __device__ void run_piece(const Piece& piece) const {
    load(piece);
    const Fading& fading = room_.fading;
    for_tiles(kPiece, kColumns, [&](TileSums& sums) {
      sums.add(whole(in_.keys), room_.k.factor(), room_.state.factor());
      sums.each_sum([&](int i, int, float& sum) { sum *= fading.to_end[i]; });
      sums.add(kPiece, room_.seen.factor().turned(), room_.given.factor());
      sums.each_sum([&](int i, int j, float sum) { room_.added(i, j) = sum; });
    });
    __syncthreads();
    const Tile<float>& turned = room_.seen;  // in the place of P, which nobody needs any more
    for_tiles(kPiece, kColumns, [&](TileSums& sums) {
      sums.add(kPiece, room_.inverse.factor().turned(), room_.added.factor());
      sums.each_sum([&](int i, int j, float sum) { turned(i, j) = sum; });
    });
    __syncthreads();
    store_tile(turned, rows_of_slice(a_.given, piece, sample_, head_, in_.values, slice_));
    __syncthreads();
    const float scale = in_.scale();
    weigh_rows(room_.given, [&](int i) { return scale * fading.from_before[i]; });
    weigh_rows(turned, [&](int i) { return -fading.from_before[i] * room_.beta[i]; });
    __syncthreads();
    const float kept = fading.from_before[piece.count - 1];
    for_tiles(in_.keys, kColumns, [&](TileSums& sums) {
      sums.add(kPiece, room_.q.factor().turned(), room_.given.factor());
      sums.add(kPiece, room_.k.factor().turned(), turned.factor());
      sums.each_sum(
          [&](int i, int j, float sum) { room_.state(i, j) = kept * room_.state(i, j) + sum; });
    });
  }

  const Steps<T>& a_;
};

template <class T>
__global__ __launch_bounds__(kProductThreads) void delta_walk_back(
    const __grid_constant__ Steps<T> a) {
  SharedRoom memory(dynamic_shared<std::byte>());
  const AddedRoom room(memory, a.in.keys);
  BackWalker<T>(a, room).run();
}

}  // namespace mpitron::kernels::cuda::delta
