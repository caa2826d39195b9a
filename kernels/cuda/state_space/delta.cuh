#pragma once
#include "kernels/cuda/state_space/fading.cuh"
#include "kernels/state_space/delta_rule.h"

// What both directions of the delta rule share. With a the logarithm of the decay since the start
// of a piece, S the state before it and d what its positions add to the state,
//   d = U (beta (v - e^a K S)),  o = e^a Q S + P d,
// where U is the inverse of the triangular system by which positions correct each other, and P what
// queries see of keys, scaled. U and P are made for all pieces at once, by pair_matrices. Columns
// of v meet nowhere but in sums over them, so that blocks share these out.

namespace mpitron::kernels::cuda::delta {

inline constexpr int kColumns = 64;  // of v, of a block
inline constexpr Index kPairs = Index{kPiece} * kPiece;

template <class T>
struct Inputs {
  Positions<const T> q, k, v, beta, alpha;
  Numbers a_log, dt_bias;
  DocumentStarts starts;
  Pieces pieces;
  int samples, heads, served, keys, values;  // heads of values; the sizes of heads

  Inputs(const DeltaRuleInputs& in, Index chunk)
      : q(in.q),
        k(in.k),
        v(in.v),
        beta(in.beta),
        alpha(in.alpha),
        a_log(in.a_log),
        dt_bias(in.dt_bias),
        starts(in.starts),
        pieces(in.q.size(0), chunk),
        samples(static_cast<int>(in.q.size(1))),
        heads(static_cast<int>(in.value_heads())),
        served(static_cast<int>(in.served())),
        keys(static_cast<int>(in.key_dim())),
        values(static_cast<int>(in.value_dim())) {
    MPITRON_CHECK(chunk <= kPiece, chunk);
  }

  constexpr int slices() const { return (values + kColumns - 1) / kColumns; }
  constexpr Index numbers() const { return pieces.count * samples * heads; }
  constexpr Index state() const { return Index{keys} * values; }
  __device__ Index place(Index piece, int sample, int head) const {
    return (piece * samples + sample) * heads + head;
  }
  __device__ float scale() const { return rsqrtf(static_cast<float>(keys)); }
  __device__ double rate(int head) const {
    return -exp(static_cast<double>(a_log.load(head, Width<1>())[0]));
  }
  __device__ void fade(const Fading& fading, const Piece& piece, int sample, int head) const {
    const float bias = dt_bias.load(head, Width<1>())[0];
    fading.fill(piece, starts, sample, rate(head), [&](Index position) {
      return static_cast<float>(alpha.at(position, sample)[head]) + bias;
    });
  }
  /// beta of the positions of a piece, and 0 behind them.
  __device__ void load_beta(float* to, const Piece& piece, int sample, int head) const {
    const int i = static_cast<int>(threadIdx.x);
    if (i < kPiece) {
      const float raw =
          i < piece.count ? static_cast<float>(beta.at(piece.first + i, sample)[head]) : 0;
      to[i] = i < piece.count ? 1 / (1 + expf(-raw)) : 0;
    }
  }
  /// Keys or queries of the head that serves this one, of length 1. All threads come here.
  __device__ void load_unit(const Tile<float>& to, const Positions<const T>& from,
                            const Piece& piece, int sample, int head) const {
    const Index column = Index{head / served} * keys;
    const bool packed = keys % kPack == 0 && from.packed;
    load_tile(to, kPiece, TileRows{piece.count, keys, packed, [&](int i) {
                                     return from.at(piece.first + i, sample) + column;
                                   }});
    __syncthreads();
    const int row = static_cast<int>(threadIdx.x) / kOfRow;
    const float factor = rsqrtf(row_dot(to, to, keys) + 1e-6f);
    for (int j = static_cast<int>(threadIdx.x) % kOfRow; j < keys; j += kOfRow) {
      to(row, j) *= factor;
    }
  }
};

/// A slice of the columns of a head's values.
struct Slice {
  int first, count;

  template <class T>
  __device__ Slice(const Inputs<T>& in, int number)
      : first(number * kColumns), count(min(kColumns, in.values - first)) {}
};

/// A head's columns of a slice of rows [s, b, heads v] in a piece.
template <class T>
__device__ auto rows_of_slice(const Positions<T>& rows, const Piece& piece, int sample, int head,
                              int values, const Slice& slice) {
  const Index column = Index{head} * values + slice.first;
  return TileRows{piece.count, slice.count, rows.packed && values % kPack == 0,
                  [=](int i) { return rows.at(piece.first + i, sample) + column; }};
}

/// A slice of a state [k, v].
template <class N>
__device__ auto rows_of_state(N* state, int keys, int values, const Slice& slice) {
  return TileRows{keys, slice.count, values % kPack == 0,
                  [=](int i) { return state + Index{i} * values + slice.first; }};
}

/// Matrices of pairs of positions, [kPiece, kPiece].
template <class N>
__device__ auto rows_of_pairs(N* pairs) {
  return TileRows{kPiece, kPiece, true, [=](int i) { return pairs + i * kPiece; }};
}

/// U and P of all pieces, samples and heads.
struct Pairs {
  float *inverse, *seen;
};

template <class T>
struct PairMatrices {
  Inputs<T> in;
  Pairs to;
};

struct PairRoom {
  Fading fading;
  float* beta;
  Tile<float> q, k, system, inverse;

  constexpr PairRoom(SharedRoom& room, Index keys)
      : fading(room),
        beta(room.numbers<float>(kPiece)),
        q(room.tile<float>(kPiece, keys)),
        k(room.tile<float>(kPiece, keys)),
        system(room.tile<float>(kPiece, kPiece)),
        inverse(room.tile<float>(kPiece, kPiece)) {}
};

/// Inverts a triangular system whose diagonal is 1, of which there is what lies below: four
/// neighbouring threads have a column.
__device__ inline void invert(const Tile<float>& system, const Tile<float>& inverse) {
  const int column = static_cast<int>(threadIdx.x) / kOfRow;
  const int own = static_cast<int>(threadIdx.x) % kOfRow;
  for (int i = 0; i < kPiece; ++i) {
    float sum = 0;
    for (int k = own; k < i; k += kOfRow) {
      sum += system(i, k) * inverse(k, column);
    }
    sum = warp_reduce(sum, Sum{}, kOfRow);
    if (own == 0) {
      inverse(i, column) = (i == column ? 1.f : 0.f) - sum;
    }
    __syncwarp();
  }
}

template <class T>
__global__ __launch_bounds__(kProductThreads) void pair_matrices(
    const __grid_constant__ PairMatrices<T> a) {
  SharedRoom memory(dynamic_shared<std::byte>());
  const Inputs<T>& in = a.in;
  const PairRoom room(memory, in.keys);
  const int head = static_cast<int>(blockIdx.x), sample = static_cast<int>(blockIdx.y);
  const Piece piece = in.pieces(blockIdx.z);
  in.load_unit(room.q, in.q, piece, sample, head);
  in.load_unit(room.k, in.k, piece, sample, head);
  in.load_beta(room.beta, piece, sample, head);
  in.fade(room.fading, piece, sample, head);
  for_tiles(kPiece, kPiece, [&](TileSums& sums) {
    sums.add(whole(in.keys), room.k.factor(), room.k.factor().turned());
    sums.each_sum([&](int i, int k, float sum) {
      room.system(i, k) = k < i ? room.beta[i] * room.fading.left(i, k) * sum : 0;
    });
  });
  __syncthreads();
  invert(room.system, room.inverse);
  __syncthreads();
  for_tiles(kPiece, kPiece, [&](TileSums& sums) {
    sums.add(whole(in.keys), room.q.factor(), room.k.factor().turned());
    sums.each_sum([&](int i, int k, float sum) {
      room.system(i, k) = in.scale() * room.fading.left(i, k) * sum;
    });
  });
  __syncthreads();
  const Index place = in.place(blockIdx.z, sample, head) * kPairs;
  store_tile(room.inverse, rows_of_pairs(a.to.inverse + place));
  store_tile(room.system, rows_of_pairs(a.to.seen + place));
}

template <class T>
void make_pairs(device::CudaStream& stream, const char* name, const Inputs<T>& in,
                const Pairs& to) {
  SharedRoom room(nullptr);
  const PairRoom counted(room, in.keys);
  const dim3 grid(static_cast<unsigned>(in.heads), static_cast<unsigned>(in.samples),
                  static_cast<unsigned>(in.pieces.count));
  launch(stream, name, {grid, kProductThreads, room.used()}, pair_matrices<T>,
         PairMatrices<T>{in, to});
}

/// What positions add to the states of a slice: memory of a block.
struct AddedRoom {
  Fading fading;
  float* beta;
  Tile<float> q, k, inverse, seen, state, given, added;

  constexpr AddedRoom(SharedRoom& room, Index keys)
      : fading(room),
        beta(room.numbers<float>(kPiece)),
        q(room.tile<float>(kPiece, keys)),
        k(room.tile<float>(kPiece, keys)),
        inverse(room.tile<float>(kPiece, kPiece)),
        seen(room.tile<float>(kPiece, kPiece)),
        state(room.tile<float>(keys, kColumns)),
        given(room.tile<float>(kPiece, kColumns)),
        added(room.tile<float>(kPiece, kColumns)) {}

  /// added = U (beta (v - e^a K S)): the state, keys and U are there. All threads come here.
  template <class T>
  __device__ void add(const Inputs<T>& in, const Piece& piece, int sample, int head,
                      const Slice& slice) const {
    load_tile(given, kPiece, rows_of_slice(in.v, piece, sample, head, in.values, slice));
    in.load_beta(beta, piece, sample, head);
    in.fade(fading, piece, sample, head);
    for_tiles(kPiece, kColumns, [&](TileSums& sums) {
      sums.add(whole(in.keys), k.factor(), state.factor());
      sums.each_sum([&](int i, int j, float sum) {
        given(i, j) = beta[i] * (given(i, j) - fading.from_before[i] * sum);
      });
    });
    __syncthreads();
    for_tiles(kPiece, kColumns, [&](TileSums& sums) {
      sums.add(kPiece, inverse.factor(), given.factor());
      sums.each_sum([&](int i, int j, float sum) { added(i, j) = sum; });
    });
    __syncthreads();
  }
};

/// Weighs the rows of a tile of kPiece rows and kColumns columns; a barrier comes before and
/// behind it.
template <class F>
__device__ void weigh_rows(const Tile<float>& x, F&& weight) {
  for (int e = static_cast<int>(threadIdx.x); e < kPiece * kColumns; e += kProductThreads) {
    x(e / kColumns, e % kColumns) *= weight(e / kColumns);
  }
}

}  // namespace mpitron::kernels::cuda::delta
