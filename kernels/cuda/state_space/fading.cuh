#pragma once
#include "kernels/cuda/common/any_elements.cuh"
#include "kernels/cuda/state_space/block_product.cuh"
#include "kernels/cuda/state_space/positions.cuh"
#include "kernels/state_space/document_starts.h"

// How states fade within pieces of a sequence: chunks, cut where they are longer than a tile.

namespace mpitron::kernels::cuda {

inline constexpr int kPiece = 64;  // positions

struct Piece {
  Index number, first;
  int count;
};

/// The pieces of sequences, which begin anew with each chunk.
struct Pieces {
  Index length, chunk, of_chunk, count;

  Pieces(Index length_, Index chunk_)
      : length(length_),
        chunk(chunk_),
        of_chunk((chunk_ + kPiece - 1) / kPiece),
        count(length_ / chunk_ * of_chunk + (length_ % chunk_ + kPiece - 1) / kPiece) {}
  __device__ Piece operator()(Index number) const {
    const Index within = number % of_chunk * kPiece;
    const Index first = number / of_chunk * chunk + within;
    return {number, first,
            static_cast<int>(min(min(Index{kPiece}, chunk - within), length - first))};
  }
};

/// log(1 + e^x) and its derivative.
struct Softplus {
  float value, slope;

  __device__ explicit Softplus(float x) {
    const float small = expf(-fabsf(x));
    value = fmaxf(x, 0.f) + log1pf(small);
    slope = (x >= 0 ? 1 : small) / (1 + small);
  }
};

/// Sums of the numbers of the positions of a piece up to each one, or from each one on.
template <bool kBackwards>
__device__ void sum_along(double* x) {
  const int i = static_cast<int>(threadIdx.x), own = kBackwards ? kPiece - 1 - i : i;
  for (int step = 1; step < kPiece; step *= 2) {
    __syncthreads();
    const double before = i < kPiece && i >= step ? x[kBackwards ? own + step : own - step] : 0;
    __syncthreads();
    if (i < kPiece) {
      x[own] += before;
    }
  }
  __syncthreads();
}

/// The decays of a head in a piece: the logarithm a of that since the piece's start, and what is
/// left of positions. Positions that fill up the piece neither give nor see anything.
struct Fading {
  double* a;
  float *step, *slope;          // -g / rate or dt; its derivative by what is given
  float *from_before, *to_end;  // what is left of the state before the piece, and at its end
  int* seen;                    // the first position that each one sees, from the piece's start

  constexpr explicit Fading(SharedRoom& room)
      : a(room.numbers<double>(kPiece)),
        step(room.numbers<float>(kPiece)),
        slope(room.numbers<float>(kPiece)),
        from_before(room.numbers<float>(kPiece)),
        to_end(room.numbers<float>(kPiece)),
        seen(room.numbers<int>(kPiece)) {}

  /// raw(position): what softplus takes. All threads of the block come here.
  template <class Raw>
  __device__ void fill(const Piece& piece, const DocumentStarts& starts, Index sample, double rate,
                       const Raw& raw) const {
    const int i = static_cast<int>(threadIdx.x);
    const bool inside = i < piece.count;
    if (i < kPiece) {
      const Softplus softplus(inside ? raw(piece.first + i) : 0);
      step[i] = inside ? softplus.value : 0;
      slope[i] = inside ? softplus.slope : 0;
      a[i] = rate * static_cast<double>(step[i]);
      const Index first = inside ? starts(piece.first + i, sample) - piece.first : kPiece;
      seen[i] = static_cast<int>(max(first, Index{-1}));
    }
    sum_along<false>(a);
    if (i < kPiece) {
      const int last = piece.count - 1;
      from_before[i] = seen[i] < 0 ? expf(static_cast<float>(a[i])) : 0;
      to_end[i] = inside && i >= seen[last] ? expf(static_cast<float>(a[last] - a[i])) : 0;
    }
    __syncthreads();
  }
  /// What is left of position k at i: 0 where that does not see it.
  __device__ float left(int i, int k) const {
    return k <= i && k >= seen[i] ? expf(static_cast<float>(a[i] - a[k])) : 0;
  }
};

}  // namespace mpitron::kernels::cuda
