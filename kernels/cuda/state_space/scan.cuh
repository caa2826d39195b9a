#pragma once
#include "kernels/cuda/state_space/fading.cuh"
#include "kernels/state_space/selective_scan.h"

// What both directions of the scan share. States go over pieces in two steps: what each piece adds
// to a state by itself, then sums over pieces.

namespace mpitron::kernels::cuda::scan {

template <class T>
struct Inputs {
  Positions<const T> x, b, c, dt;
  Numbers a_log, d, dt_bias;
  DocumentStarts starts;
  Pieces pieces;
  int samples, heads, groups, n, p;
  bool packed_p, packed_n;  // columns of every head, of every group

  Inputs(const ScanInputs& in, Index chunk)
      : x(in.x),
        b(in.b),
        c(in.c),
        dt(in.dt),
        a_log(in.a_log),
        d(in.d),
        dt_bias(in.dt_bias),
        starts(in.starts),
        pieces(in.x.size(0), chunk),
        samples(static_cast<int>(in.x.size(1))),
        heads(static_cast<int>(in.heads())),
        groups(static_cast<int>(in.groups)),
        n(static_cast<int>(in.state_dim())),
        p(static_cast<int>(in.head_dim())),
        packed_p(p % kPack == 0),
        packed_n(n % kPack == 0) {}

  __device__ int group_of(int head) const { return head / (heads / groups); }
  __device__ float number(const Numbers& of, int head) const {
    return of.load(head, Width<1>())[0];
  }
  __device__ double rate(int head) const { return -exp(static_cast<double>(number(a_log, head))); }
  /// Where what there is of every piece, sample and head lies.
  __device__ Index place(Index piece, int sample, int head) const {
    return (piece * samples + sample) * heads + head;
  }
  constexpr Index numbers() const { return pieces.count * samples * heads; }
  constexpr Index state() const { return Index{n} * p; }

  __device__ void fade(const Fading& fading, const Piece& piece, int sample, int head) const {
    const float bias = number(dt_bias, head);
    fading.fill(piece, starts, sample, rate(head), [&](Index position) {
      return static_cast<float>(dt.at(position, sample)[head]) + bias;
    });
  }
  /// A head's columns, or a group's, of rows [s, b, ...] in a piece.
  template <class To>
  __device__ void load_head(const Tile<To>& to, const Positions<const T>& from, const Piece& piece,
                            int sample, int head) const {
    load_tile(to, kPiece, TileRows{piece.count, p, packed_p && from.packed, [&](int i) {
                                     return from.at(piece.first + i, sample) + Index{head} * p;
                                   }});
  }
  template <class To>
  __device__ void load_group(const Tile<To>& to, const Positions<const T>& from, const Piece& piece,
                             int sample, int group) const {
    load_tile(to, kPiece, TileRows{piece.count, n, packed_n && from.packed, [&](int i) {
                                     return from.at(piece.first + i, sample) + Index{group} * n;
                                   }});
  }
  /// A state [n, p].
  __device__ void load_state(const Tile<float>& to, const float* state) const {
    load_tile(to, n, TileRows{n, p, packed_p, [&](int i) { return state + Index{i} * p; }});
  }
};

/// One head in one piece of one sample, a block's.
struct Task {
  int head, sample;
  Index piece;

  __device__ static Task of_block() {
    return {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), blockIdx.z};
  }
};

template <class T>
dim3 grid_of(const Inputs<T>& in) {
  return {static_cast<unsigned>(in.heads), static_cast<unsigned>(in.samples),
          static_cast<unsigned>(in.pieces.count)};
}

/// What pieces add to states by themselves. Forwards, the state behind each piece gets b_k
/// (weight_k x_k)^T; backwards, the gradient of that before each piece gets c_i (weight_i dy_i)^T.
template <class T>
struct PieceStates {
  Inputs<T> in;
  Positions<const T> values;  // x or dy
  float* states;              // [pieces b, heads, n, p]: before each piece; behind it, backwards
  float* kept;                // [pieces b, heads]: what is left of the state before the piece
};

template <class T>
struct PieceRoom {
  Fading fading;
  Tile<T> keys;        // [kPiece, n]
  Tile<float> values;  // [kPiece, p]

  constexpr PieceRoom(SharedRoom& room, Index n, Index p)
      : fading(room), keys(room.tile<T>(kPiece, n)), values(room.tile<float>(kPiece, p)) {}
};

template <class T, bool kBackwards>
__global__ __launch_bounds__(kProductThreads) void piece_states(
    const __grid_constant__ PieceStates<T> a) {
  SharedRoom memory(dynamic_shared<std::byte>());
  const Inputs<T>& in = a.in;
  const PieceRoom<T> room(memory, in.n, in.p);
  const Task task = Task::of_block();
  const Piece piece = in.pieces(task.piece);
  in.fade(room.fading, piece, task.sample, task.head);
  if (threadIdx.x == 0) {
    a.kept[in.place(task.piece, task.sample, task.head)] = room.fading.from_before[piece.count - 1];
  }
  const Index target = task.piece + (kBackwards ? -1 : 1);
  if (target < 0 || target >= in.pieces.count) {
    return;
  }
  in.load_group(room.keys, kBackwards ? in.c : in.b, piece, task.sample, in.group_of(task.head));
  in.load_head(room.values, a.values, piece, task.sample, task.head);
  __syncthreads();
  for (int e = static_cast<int>(threadIdx.x); e < kPiece * whole(in.p); e += kProductThreads) {
    const int i = e / whole(in.p), column = e % whole(in.p);
    room.values(i, column) *=
        kBackwards ? room.fading.from_before[i] : room.fading.to_end[i] * room.fading.step[i];
  }
  __syncthreads();
  float* const state = a.states + in.place(target, task.sample, task.head) * in.state();
  for_tiles(in.n, in.p, [&](TileSums& sums) {
    sums.add(kPiece, room.keys.factor().turned(), room.values.factor());
    sums.each_sum([&](int i, int j, float sum) {
      if (i < in.n && j < in.p) {
        state[Index{i} * in.p + j] = sum;
      }
    });
  });
}

/// Sums over pieces.
struct StateSums {
  float* states;
  const float* kept;
  float* of_chunks;                      // or null: those before each chunk
  Index pieces, of_chunk, heads, state;  // heads: of all samples

  constexpr Index numbers() const { return heads * state; }
};

/// A number of a state to a thread.
template <bool kBackwards>
__global__ void sum_states(const __grid_constant__ StateSums a) {
  const Index at = thread_of_grid().index, all = a.numbers();
  if (at >= all) {
    return;
  }
  const Index head = at / a.state;
  const auto place = [&](Index i) { return kBackwards ? a.pieces - 1 - i : i; };
  float sum = 0;
  for (Index i = 0; i < a.pieces; ++i) {
    float* const own = a.states + place(i) * all + at;
    sum = i == 0 ? 0 : a.kept[place(i - 1) * a.heads + head] * sum + *own;
    *own = sum;
    if (a.of_chunks != nullptr && i % a.of_chunk == 0) {
      a.of_chunks[i / a.of_chunk * all + at] = sum;
    }
  }
}

/// Queues both steps.
template <bool kBackwards, class T>
void make_states(device::CudaStream& stream, const char* name, const PieceStates<T>& a,
                 float* of_chunks) {
  SharedRoom room(nullptr);
  const PieceRoom<T> counted(room, a.in.n, a.in.p);
  launch(stream, name, {grid_of(a.in), kProductThreads, room.used()}, piece_states<T, kBackwards>,
         a);
  const StateSums sums{a.states,
                       a.kept,
                       of_chunks,
                       a.in.pieces.count,
                       a.in.pieces.of_chunk,
                       Index{a.in.heads} * a.in.samples,
                       a.in.state()};
  launch(stream, name,
         {static_cast<unsigned>((sums.numbers() + kThreads - 1) / kThreads), kThreads},
         sum_states<kBackwards>, sums);
}

}  // namespace mpitron::kernels::cuda::scan
