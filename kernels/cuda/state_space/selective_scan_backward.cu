// Numerical contract: that of selective_scan.h; products as block_product.cuh has them, in pieces
// of up to 64 positions of a chunk. db and dc: over the heads of a block in order, then over
// blocks; sums of heads: over positions of a piece, then as add_partials does over pieces.
#include "kernels/cuda/common/column_sums.cuh"
#include "kernels/cuda/state_space/part_sums.cuh"
#include "kernels/cuda/state_space/scan.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;
using namespace cuda::scan;

/// Cuts the heads of groups into parts, each a block's in a piece, by the shape alone: as few as
/// leave enough blocks, since each has a db and dc of its own.
struct Parts {
  int heads, count;  // heads of one; parts of a group

  explicit Parts(const ScanInputs& in, const Pieces& pieces) {
    constexpr Index kBlocksWanted = 512;
    const Index all = in.heads_of_group(), blocks = pieces.count * in.x.size(1) * in.groups;
    const Index wanted = std::clamp(kBlocksWanted / std::max<Index>(blocks, 1), Index{1}, all);
    heads = static_cast<int>((all + wanted - 1) / wanted);
    count = static_cast<int>((all + heads - 1) / heads);
  }
};

enum HeadSum { to_a_log, to_d, to_dt_bias, kHeadSums };

template <class T>
struct Gradients {
  Inputs<T> in;
  Positions<const T> dy;
  const float *states, *behind, *kept;  // as in PieceStates
  Positions<T> dx, ddt;
  float *db, *dc;  // [parts, s, b, groups n]
  float* sums;     // [pieces b, kHeadSums, heads]
  Parts parts;
};

template <class T>
struct GradientRoom {
  Fading fading;
  double* exponent;                    // gradients of the logarithms of decays
  float *late, *early, *direct, *end;  // parts of these and of the gradients of dt
  float* warps;
  Tile<T> b, c, x, dy;
  Tile<float> state, read, scores, mixed, through, pairs;

  constexpr GradientRoom(SharedRoom& room, Index n, Index p)
      : fading(room),
        exponent(room.numbers<double>(kPiece)),
        late(room.numbers<float>(kPiece)),
        early(room.numbers<float>(kPiece)),
        direct(room.numbers<float>(kPiece)),
        end(room.numbers<float>(kPiece)),
        warps(room.numbers<float>(kMostWarps)),
        b(room.tile<T>(kPiece, n)),
        c(room.tile<T>(kPiece, n)),
        x(room.tile<T>(kPiece, p)),
        dy(room.tile<T>(kPiece, p)),
        state(room.tile<float>(n, p)),
        read(room.tile<float>(kPiece, p)),
        scores(room.tile<float>(kPiece, kPiece)),
        mixed(room.tile<float>(kPiece, kPiece)),
        through(room.tile<float>(kPiece, kPiece)),
        pairs(room.tile<float>(kPiece, kPiece)) {}
};

/// The gradients of some heads of a group in a piece.
template <class T>
class PieceGradients {
 public:
  __device__ PieceGradients(const Gradients<T>& a, const GradientRoom<T>& room, int group, int part,
                            int sample, Index number)
      : a_(a),
        in_(a.in),
        room_(room),
        piece_(a.in.pieces(number)),
        group_(group),
        part_(part),
        sample_(sample) {}

  __device__ void run() {
    in_.load_group(room_.b, in_.b, piece_, sample_, group_);
    in_.load_group(room_.c, in_.c, piece_, sample_, group_);
    __syncthreads();
    for_tiles(kPiece, kPiece, [&](TileSums& sums) {
      sums.add(whole(in_.n), room_.c.factor(), room_.b.factor().turned());
      sums.each_sum([&](int i, int k, float score) {
        room_.scores(i, k) = score;
        room_.pairs(i, k) = 0;
      });
    });
    const int all = in_.heads / in_.groups, first = part_ * a_.parts.heads;
    for (int head = first; head < min(all, first + a_.parts.heads); ++head) {
      run_head(group_ * all + head, head > first);
    }
    for_tiles(kPiece, in_.n, [&](TileSums& sums) {
      sums.add(kPiece, room_.pairs.factor(), room_.b.factor());
      sums.each_sum([&](int i, int j, float sum) { give(a_.dc, i, j, sum, true); });
    });
    for_tiles(kPiece, in_.n, [&](TileSums& sums) {
      sums.add(kPiece, room_.pairs.factor().turned(), room_.c.factor());
      sums.each_sum([&](int i, int j, float sum) { give(a_.db, i, j, sum, true); });
    });
  }

 private:
  __device__ void run_head(int head, bool more) {
    __syncthreads();  // nobody reads the last one's any more
    const Index state = in_.place(piece_.number, sample_, head) * in_.state();
    in_.load_head(room_.x, in_.x, piece_, sample_, head);
    in_.load_head(room_.dy, a_.dy, piece_, sample_, head);
    in_.load_state(room_.state, a_.behind + state);
    in_.fade(room_.fading, piece_, sample_, head);
    inside_piece();
    from_state_behind(head, more);
    const float kept = inner(a_.states + state) * a_.kept[in_.place(piece_.number, sample_, head)];
    __syncthreads();
    in_.load_state(room_.state, a_.states + state);
    __syncthreads();
    from_state_before(more);
    finish(head, kept);
  }

  /// What pairs of positions give to decays, to dt and, through `pairs`, to b and c.
  __device__ void inside_piece() {
    const float* const step = room_.fading.step;
    for_tiles(kPiece, kPiece, [&](TileSums& sums) {
      sums.add(whole(in_.p), room_.dy.factor(), room_.x.factor().turned());
      sums.each_sum([&](int i, int k, float w) {
        const float left = room_.fading.left(i, k), fade = left * room_.scores(i, k);
        room_.mixed(i, k) = fade * step[k];
        room_.through(i, k) = w * fade;
        room_.pairs(i, k) += w * left * step[k];
      });
    });
    __syncthreads();
    const int own = static_cast<int>(threadIdx.x) % kPiece;
    float sum = 0;
    if (threadIdx.x < kPiece) {
      for (int k = 0; k < own; ++k) {
        sum += room_.through(own, k) * step[k];
      }
      room_.late[own] = sum;
    } else if (threadIdx.x < 2 * kPiece) {
      for (int i = own + 1; i < kPiece; ++i) {
        sum += room_.through(i, own);
      }
      room_.early[own] = sum * step[own];  // a position does not fade for itself
      room_.direct[own] = sum + room_.through(own, own);
    }
  }

  /// Gradients by what the positions gave to the state behind the piece; with them dx is whole.
  __device__ void from_state_behind(int head, bool more) {
    const Fading& fading = room_.fading;
    for_tiles(kPiece, in_.p, [&](TileSums& sums) {
      sums.add(whole(in_.n), room_.b.factor(), room_.state.factor());
      sums.each_sum([&](int i, int j, float sum) { room_.read(i, j) = sum; });
    });
    __syncthreads();
    for_row_dots(room_.x, room_.read, in_.p, [&](int i, float dot) {
      const float direct = fading.to_end[i] * dot;
      room_.direct[i] += direct;
      room_.end[i] = direct * fading.step[i];
    });
    __syncthreads();
    const float skip = in_.number(in_.d, head);
    for_tiles(kPiece, in_.p, [&](TileSums& sums) {
      sums.add(kPiece, room_.mixed.factor().turned(), room_.dy.factor());
      sums.each_sum([&](int i, int j, float sum) {
        float& read = room_.read(i, j);
        read = sum + fading.to_end[i] * fading.step[i] * read +
               skip * static_cast<float>(room_.dy(i, j));
      });
    });
    for_tiles(kPiece, in_.n, [&](TileSums& sums) {
      sums.add(whole(in_.p), room_.x.factor(), room_.state.factor().turned());
      sums.each_sum([&](int i, int j, float sum) {
        give(a_.db, i, j, fading.to_end[i] * fading.step[i] * sum, more);
      });
    });
    __syncthreads();
    store_tile(room_.read, TileRows{piece_.count, in_.p, in_.packed_p && a_.dx.packed, [&](int i) {
                                      return a_.dx.at(piece_.first + i, sample_) +
                                             Index{head} * in_.p;
                                    }});
  }

  /// Gradients by what the positions read of the state before the piece.
  __device__ void from_state_before(bool more) {
    const float* const left = room_.fading.from_before;
    for_tiles(kPiece, in_.p, [&](TileSums& sums) {
      sums.add(whole(in_.n), room_.c.factor(), room_.state.factor());
      sums.each_sum([&](int i, int j, float sum) { room_.read(i, j) = sum; });
    });
    for_tiles(kPiece, in_.n, [&](TileSums& sums) {
      sums.add(whole(in_.p), room_.dy.factor(), room_.state.factor().turned());
      sums.each_sum([&](int i, int j, float sum) { give(a_.dc, i, j, left[i] * sum, more); });
    });
    __syncthreads();
    for_row_dots(room_.dy, room_.read, in_.p,
                 [&](int i, float dot) { room_.late[i] += left[i] * dot; });
  }

  __device__ void finish(int head, float kept) {
    __shared__ float skipped[kPiece];
    for_row_dots(room_.dy, room_.x, in_.p, [&](int i, float dot) { skipped[i] = dot; });
    __syncthreads();
    const int i = static_cast<int>(threadIdx.x);
    const bool inside = i < piece_.count;
    const float ends = block_sum(inside ? room_.end[i] : 0, room_.warps);
    if (i < kPiece) {
      const float last = i == piece_.count - 1 ? ends + kept : 0;
      room_.exponent[i] =
          inside ? static_cast<double>(room_.late[i]) - room_.early[i] - room_.end[i] + last : 0;
    }
    sum_along<true>(room_.exponent);
    const double rate = in_.rate(head);
    const double to_exponent = inside ? room_.exponent[i] : 0;
    const float to_raw =
        inside ? static_cast<float>((room_.direct[i] + rate * to_exponent) * room_.fading.slope[i])
               : 0;
    if (inside) {
      a_.ddt.at(piece_.first + i, sample_)[head] = static_cast<T>(to_raw);
    }
    float* const sums =
        a_.sums + (piece_.number * in_.samples + sample_) * kHeadSums * in_.heads + head;
    const auto add_up = [&](HeadSum place, float value) {
      const float sum = block_sum(value, room_.warps);
      if (i == 0) {
        sums[place * in_.heads] = sum;
      }
    };
    add_up(to_dt_bias, to_raw);
    add_up(to_d, inside ? skipped[i] : 0);
    add_up(to_a_log, inside ? static_cast<float>(rate * room_.fading.step[i] * to_exponent) : 0);
  }

  /// The sum of the products of the numbers of a state [n, p] and of that in the tile.
  __device__ float inner(const float* state) const {
    float sum = 0;
    for (int e = static_cast<int>(threadIdx.x); e < in_.n * in_.p; e += kProductThreads) {
      sum += state[e] * room_.state(e / in_.p, e % in_.p);
    }
    return block_sum(sum, room_.warps);
  }
  /// Gives to db or dc of position i: the same thread each time.
  __device__ void give(float* to, int i, int j, float value, bool more) const {
    if (i < piece_.count && j < in_.n) {
      const Index row = (part_ * in_.pieces.length + piece_.first + i) * in_.samples + sample_;
      float& sum = to[(row * in_.groups + group_) * in_.n + j];
      sum = more ? sum + value : value;
    }
  }

  const Gradients<T>& a_;
  const Inputs<T>& in_;
  const GradientRoom<T>& room_;
  const Piece piece_;
  const int group_, part_, sample_;
};

template <class T>
__global__ __launch_bounds__(kProductThreads) void scan_gradients(
    const __grid_constant__ Gradients<T> a) {
  SharedRoom memory(dynamic_shared<std::byte>());
  const GradientRoom<T> room(memory, a.in.n, a.in.p);
  const int block = static_cast<int>(blockIdx.x);
  PieceGradients<T>(a, room, block / a.parts.count, block % a.parts.count,
                    static_cast<int>(blockIdx.y), blockIdx.z)
      .run();
}

/// Cuts up the workspace: states, gradients of states, parts of db and dc, sums of heads, and what
/// is left of states.
struct Workspace {
  float *states, *behind, *db, *dc, *sums, *kept;
  Index bytes;

  explicit Workspace(const SelectiveScanBackward& k) {
    const Pieces pieces(k.in.x.size(0), k.chunk);
    const Index heads = pieces.count * k.in.x.size(1) * k.in.heads();
    const Index state = heads * k.in.state_dim() * k.in.head_dim();
    const Index parts = Parts(k.in, pieces).count * k.in.b.numel();
    SharedRoom room(static_cast<std::byte*>(k.workspace.data));
    db = room.numbers<float>(parts), dc = room.numbers<float>(parts);
    behind = room.numbers<float>(state);
    sums = room.numbers<float>(kHeadSums * heads), kept = room.numbers<float>(heads);
    states =
        pieces.of_chunk > 1 ? room.numbers<float>(state) : const_cast<float*>(k.states.as<float>());
    bytes = static_cast<Index>(room.used());
  }
};

}  // namespace

/// States before pieces are made again where chunks are cut; gradients of states go from piece to
/// piece; with both the pieces are independent.
void run(device::CudaStream& stream, const SelectiveScanBackward& k) {
  const Workspace own(k);
  MPITRON_CHECK(k.workspace.bytes() >= own.bytes, k.workspace.bytes());
  visit_element(k.in.x.dtype, [&]<class T>() {
    const Inputs<T> in(k.in, k.chunk);
    const Positions<const T> dy(k.dy);
    if (in.pieces.of_chunk > 1) {
      make_states<false>(stream, k.name, PieceStates<T>{in, in.x, own.states, own.kept}, nullptr);
    }
    make_states<true>(stream, k.name, PieceStates<T>{in, dy, own.behind, own.kept}, nullptr);
    SharedRoom room(nullptr);
    const GradientRoom<T> counted(room, in.n, in.p);
    const Parts parts(k.in, in.pieces);
    dim3 grid = grid_of(in);
    grid.x = static_cast<unsigned>(in.groups * parts.count);
    launch(stream, k.name, {grid, kProductThreads, room.used()}, scan_gradients<T>,
           Gradients<T>{in, dy, own.states, own.behind, own.kept, Positions<T>(k.dx),
                        Positions<T>(k.ddt), own.db, own.dc, own.sums, parts});
    add_parts_to<T>(stream, k.name, own.db, parts.count, k.db);
    add_parts_to<T>(stream, k.name, own.dc, parts.count, k.dc);
    const auto add_heads = [&](HeadSum place, const InOut& to) {
      add_partials(
          stream, k.name,
          {own.sums + place * in.heads, in.pieces.count * in.samples, Index{kHeadSums} * in.heads},
          k.accumulate, to);
    };
    add_heads(to_a_log, k.da_log), add_heads(to_d, k.dd), add_heads(to_dt_bias, k.ddt_bias);
  });
}

Index workspace_bytes(const device::CudaStream&, const SelectiveScanBackward& k) {
  return Workspace(k).bytes;
}

}  // namespace mpitron::kernels
