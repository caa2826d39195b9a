// Numerical contract: that of delta_rule.h; products as block_product.cuh has them. What positions
// add to states is made again for all pieces at once, from the states before them; then blocks walk
// back over pieces with 64 columns of the gradient of a head's state; with both all pieces are
// independent. dq and dk: value heads in order; sums of heads: over positions of a piece, then as
// add_partials does over pieces.
#include "kernels/cuda/common/column_sums.cuh"
#include "kernels/cuda/state_space/delta_walk_back.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;
using namespace cuda::delta;

enum HeadSum { to_a_log, to_dt_bias, kHeadSums };

template <class T>
struct Gradients {
  Inputs<T> in;
  Positions<const T> d_o;
  const float *states, *behind;
  Positions<const float> added, given;
  Positions<T> dv, dbeta, dalpha;
  float *dq, *dk;  // [served, s, b, key heads k]: of queries and keys of length 1
  float* sums;     // [pieces b, kHeadSums, heads]
};

struct GradientRoom {
  Fading fading;
  double* exponent;  // gradients of the logarithms of decays
  float *beta, *late, *early, *end, *to_beta, *warps;
  float *of_queries, *of_keys;  // parts of sums over rows: [32 columns, kPiece]
  Tile<float> q, k, state, d_o, added, given, queries, keys;

  constexpr GradientRoom(SharedRoom& room, Index key_dim)
      : fading(room),
        exponent(room.numbers<double>(kPiece)),
        beta(room.numbers<float>(kPiece)),
        late(room.numbers<float>(kPiece)),
        early(room.numbers<float>(kPiece)),
        end(room.numbers<float>(kPiece)),
        to_beta(room.numbers<float>(kPiece)),
        warps(room.numbers<float>(kMostWarps)),
        of_queries(room.numbers<float>(whole(key_dim) / kWarp * kPiece)),
        of_keys(room.numbers<float>(whole(key_dim) / kWarp * kPiece)),
        q(room.tile<float>(kPiece, key_dim)),
        k(room.tile<float>(kPiece, key_dim)),
        state(room.tile<float>(key_dim, kColumns)),
        d_o(room.tile<float>(kPiece, kColumns)),
        added(room.tile<float>(kPiece, kColumns)),
        given(room.tile<float>(kPiece, kColumns)),
        queries(room.tile<float>(kPiece, kPiece)),
        keys(room.tile<float>(kPiece, kPiece)) {}
};

/// The gradients of a head in a piece.
template <class T>
class PieceGradients {
 public:
  __device__ PieceGradients(const Gradients<T>& a, const GradientRoom& room)
      : a_(a),
        in_(a.in),
        room_(room),
        head_(static_cast<int>(blockIdx.x)),
        sample_(static_cast<int>(blockIdx.y)),
        piece_(a.in.pieces(blockIdx.z)),
        state_(a.in.place(blockIdx.z, sample_, head_) * a.in.state()) {}

  __device__ void run() {
    in_.load_unit(room_.q, in_.q, piece_, sample_, head_);
    in_.load_unit(room_.k, in_.k, piece_, sample_, head_);
    in_.load_beta(room_.beta, piece_, sample_, head_);
    in_.fade(room_.fading, piece_, sample_, head_);
    const int i = static_cast<int>(threadIdx.x);
    for (int e = i; e < whole(in_.keys) / kWarp * kPiece; e += kProductThreads) {
      room_.of_queries[e] = 0, room_.of_keys[e] = 0;
    }
    if (i < kPiece) {
      room_.end[i] = 0, room_.to_beta[i] = 0;
    }
    float inner = 0;
    for (int slice = 0; slice < in_.slices(); ++slice) {
      run_slice(Slice(in_, slice), slice > 0, inner);
    }
    pairs();
    finish(block_sum(inner, room_.warps) * room_.fading.from_before[piece_.count - 1]);
  }

 private:
  /// Loads a slice, gives dv and what pairs of positions ask of each other, and what the states
  /// before and behind the piece give.
  __device__ void run_slice(const Slice& slice, bool more, float& inner) {
    __syncthreads();
    const auto rows = [&](const auto& from) {
      return rows_of_slice(from, piece_, sample_, head_, in_.values, slice);
    };
    const auto state = [&](const float* from) {
      return rows_of_state(from + state_, in_.keys, in_.values, slice);
    };
    load_tile(room_.d_o, kPiece, rows(a_.d_o));
    load_tile(room_.added, kPiece, rows(a_.added));
    load_tile(room_.given, kPiece, rows(a_.given));
    load_tile(room_.state, in_.keys, state(a_.behind));
    __syncthreads();
    for_row_dots(room_.added, room_.given, slice.count,
                 [&](int i, float dot) { room_.to_beta[i] += dot; });
    __syncthreads();
    weigh_rows(room_.given, [&](int i) { return room_.beta[i]; });
    __syncthreads();
    store_tile(room_.given, rows(a_.dv));
    add_pairs(room_.queries, room_.d_o, slice, more);
    add_pairs(room_.keys, room_.given, slice, more);
    from_state_behind(slice, more);
    const auto before = state(a_.states);
    for (int e = static_cast<int>(threadIdx.x); e < in_.keys * slice.count; e += kProductThreads) {
      const int i = e / slice.count, j = e % slice.count;
      inner += before.row(i)[j] * room_.state(i, j);
    }
    __syncthreads();
    load_tile(room_.state, in_.keys, before);
    __syncthreads();
    from_state_before(slice, more);
  }
  /// Adds the products of rows of x and of what positions added.
  __device__ void add_pairs(const Tile<float>& to, const Tile<float>& x, const Slice& slice,
                            bool more) const {
    for_tiles(kPiece, kPiece, [&](TileSums& sums) {
      sums.add(whole(slice.count), x.factor(), room_.added.factor().turned());
      sums.each_sum([&](int i, int k, float sum) { to(i, k) = more ? to(i, k) + sum : sum; });
    });
  }
  __device__ void from_state_behind(const Slice& slice, bool more) const {
    for_tiles(kPiece, in_.keys, [&](TileSums& sums) {
      sums.add(whole(slice.count), room_.added.factor(), room_.state.factor().turned());
      sums.each_sum([&](int i, int, float& sum) { sum *= room_.fading.to_end[i]; });
      sums.each_sum([&](int i, int j, float sum) { give(a_.dk, i, j, sum, more); });
      sums.add_rows(room_.of_keys, [&](int i, int j, float sum) { return sum * room_.k(i, j); });
    });
  }
  __device__ void from_state_before(const Slice& slice, bool more) const {
    const float scale = in_.scale();
    for_tiles(kPiece, in_.keys, [&](TileSums& sums) {
      sums.add(whole(slice.count), room_.d_o.factor(), room_.state.factor().turned());
      sums.each_sum([&](int i, int, float& sum) { sum *= scale * room_.fading.from_before[i]; });
      sums.each_sum([&](int i, int j, float sum) { give(a_.dq, i, j, sum, more); });
      sums.add_rows(room_.of_queries, [&](int i, int j, float sum) { return sum * room_.q(i, j); });
    });
    for_tiles(kPiece, in_.keys, [&](TileSums& sums) {
      sums.add(whole(slice.count), room_.given.factor(), room_.state.factor().turned());
      sums.each_sum([&](int i, int, float& sum) { sum *= -room_.fading.from_before[i]; });
      sums.each_sum([&](int i, int j, float sum) { give(a_.dk, i, j, sum, true); });
      sums.add_rows(room_.of_queries, [&](int i, int j, float sum) { return sum * room_.k(i, j); });
    });
  }

  /// What pairs of positions give to queries, keys and decays.
  __device__ void pairs() const {
    const float scale = in_.scale();
    const Tile<float>& through = room_.added;  // in the place of what nobody needs any more
    __syncthreads();
    for_tiles(kPiece, kPiece, [&](TileSums& sums) {
      sums.add(whole(in_.keys), room_.q.factor(), room_.k.factor().turned());
      sums.each_sum([&](int i, int k, float sum) {
        float& pair = room_.queries(i, k);
        pair *= scale * room_.fading.left(i, k);
        through(i, k) = pair * sum;
      });
    });
    for_tiles(kPiece, kPiece, [&](TileSums& sums) {
      sums.add(whole(in_.keys), room_.k.factor(), room_.k.factor().turned());
      sums.each_sum([&](int i, int k, float sum) {
        float& pair = room_.keys(i, k);
        pair *= k < i ? -room_.fading.left(i, k) : 0;
        through(i, k) += pair * sum;
      });
    });
    __syncthreads();
    const int own = static_cast<int>(threadIdx.x) % kPiece;
    float sum = 0;
    if (threadIdx.x < kPiece) {
      for (int k = 0; k < own; ++k) {
        sum += through(own, k);
      }
      room_.late[own] = sum;
    } else if (threadIdx.x < 2 * kPiece) {
      for (int i = own + 1; i < kPiece; ++i) {
        sum += through(i, own);
      }
      room_.early[own] = sum;
    }
    for_tiles(kPiece, in_.keys, [&](TileSums& sums) {
      sums.add(kPiece, room_.queries.factor(), room_.k.factor());
      sums.each_sum([&](int i, int j, float sum) { give(a_.dq, i, j, sum, true); });
    });
    for_tiles(kPiece, in_.keys, [&](TileSums& sums) {
      sums.add(kPiece, room_.queries.factor().turned(), room_.q.factor());
      sums.add(kPiece, room_.keys.factor(), room_.k.factor());
      sums.add(kPiece, room_.keys.factor().turned(), room_.k.factor());
      sums.each_sum([&](int i, int j, float sum) { give(a_.dk, i, j, sum, true); });
    });
    __syncthreads();
  }

  __device__ void finish(float kept) const {
    const int i = static_cast<int>(threadIdx.x);
    const bool inside = i < piece_.count;
    float before = 0, end = 0;
    for (int part = 0; inside && part < whole(in_.keys) / kWarp; ++part) {
      before += room_.of_queries[part * kPiece + i], end += room_.of_keys[part * kPiece + i];
    }
    const float ends = block_sum(end, room_.warps);
    if (i < kPiece) {
      const float last = i == piece_.count - 1 ? ends + kept : 0;
      room_.exponent[i] =
          inside ? static_cast<double>(room_.late[i]) - room_.early[i] + before - end + last : 0;
    }
    sum_along<true>(room_.exponent);
    const double rate = in_.rate(head_), to_exponent = inside ? room_.exponent[i] : 0;
    float to_raw = 0, to_rate = 0;
    if (inside) {
      to_raw = static_cast<float>(rate * to_exponent * room_.fading.slope[i]);
      to_rate = static_cast<float>(rate * to_exponent * room_.fading.step[i]);
      a_.dalpha.at(piece_.first + i, sample_)[head_] = static_cast<T>(to_raw);
      a_.dbeta.at(piece_.first + i, sample_)[head_] =
          static_cast<T>(room_.to_beta[i] * (1 - room_.beta[i]));
    }
    float* const sums =
        a_.sums + (piece_.number * in_.samples + sample_) * kHeadSums * in_.heads + head_;
    const float all_rate = block_sum(to_rate, room_.warps);
    const float all_raw = block_sum(to_raw, room_.warps);
    if (i == 0) {
      sums[to_a_log * in_.heads] = all_rate;
      sums[to_dt_bias * in_.heads] = all_raw;
    }
  }
  /// Gives to dq or dk of position i: the same thread each time.
  __device__ void give(float* to, int i, int j, float value, bool more) const {
    if (i < piece_.count && j < in_.keys) {
      const int part = head_ % in_.served, key = head_ / in_.served;
      const Index row = (part * in_.pieces.length + piece_.first + i) * in_.samples + sample_;
      float& sum = to[(row * (in_.heads / in_.served) + key) * in_.keys + j];
      sum = more ? sum + value : value;
    }
  }

  const Gradients<T>& a_;
  const Inputs<T>& in_;
  const GradientRoom& room_;
  const int head_, sample_;
  const Piece piece_;
  const Index state_;
};

template <class T>
__global__ __launch_bounds__(kProductThreads) void delta_gradients(
    const __grid_constant__ Gradients<T> a) {
  SharedRoom memory(dynamic_shared<std::byte>());
  const GradientRoom room(memory, a.in.keys);
  PieceGradients<T>(a, room).run();
}

/// Gradients of queries or keys from those of the same of length 1.
template <class T>
struct UnitGradients {
  Positions<const T> x;
  Positions<T> dx;
  const float* parts;  // [served, s, b, heads k]
  Index rows, samples;
  int served, heads, keys;
};

/// A head of a position to a warp.
template <class T>
__global__ void unit_gradients(const __grid_constant__ UnitGradients<T> a) {
  const Index task = static_cast<Index>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (task >= a.rows * a.heads) {
    return;
  }
  const Index row = task / a.heads, head = task % a.heads;
  const T* const x = a.x.at(row / a.samples, row % a.samples) + head * a.keys;
  const auto given = [&](int j) {
    float sum = 0;
    for (Index part = 0; part < a.served; ++part) {
      sum += a.parts[((part * a.rows + row) * a.heads + head) * a.keys + j];
    }
    return sum;
  };
  float square = 0, along = 0;
  for (int j = static_cast<int>(threadIdx.x); j < a.keys; j += kWarp) {
    const auto value = static_cast<float>(x[j]);
    square += value * value, along += value * given(j);
  }
  const float factor = rsqrtf(warp_reduce(square, Sum{}) + 1e-6f);
  along = warp_reduce(along, Sum{}) * factor * factor;
  T* const to = a.dx.at(row / a.samples, row % a.samples) + head * a.keys;
  for (int j = static_cast<int>(threadIdx.x); j < a.keys; j += kWarp) {
    to[j] = static_cast<T>(factor * (given(j) - static_cast<float>(x[j]) * along));
  }
}

/// Cuts up the workspace.
struct Workspace {
  Pairs pairs;
  float *added, *given, *behind, *dq, *dk, *sums;
  Index bytes;

  explicit Workspace(const DeltaRuleBackward& k) {
    const Index pieces = Pieces(k.in.q.size(0), k.chunk).count;
    const Index heads = pieces * k.in.q.size(1) * k.in.value_heads();
    SharedRoom room(static_cast<std::byte*>(k.workspace.data));
    pairs = {room.numbers<float>(heads * kPairs), room.numbers<float>(heads * kPairs)};
    added = room.numbers<float>(k.in.v.numel()), given = room.numbers<float>(k.in.v.numel());
    behind = room.numbers<float>(heads * k.in.key_dim() * k.in.value_dim());
    dq = room.numbers<float>(k.in.served() * k.in.q.numel());
    dk = room.numbers<float>(k.in.served() * k.in.q.numel());
    sums = room.numbers<float>(kHeadSums * heads);
    bytes = static_cast<Index>(room.used());
  }
};

/// Rows of the workspace as those of v.
device::TensorView like_values(const DeltaRuleBackward& k, float* data) {
  return {data, DType::f32, k.in.v.shape};
}

template <class T>
void run_steps(device::CudaStream& stream, const DeltaRuleBackward& k, const Inputs<T>& in,
               const Workspace& own) {
  const Steps<T> steps{in,
                       Positions<const T>(k.d_o),
                       k.states.as<float>(),
                       Positions<float>(like_values(k, own.added)),
                       Positions<float>(like_values(k, own.given)),
                       own.pairs,
                       own.behind};
  make_pairs(stream, k.name, in, own.pairs);
  SharedRoom room(nullptr);
  const AddedRoom counted(room, in.keys);
  const auto slices = static_cast<unsigned>(in.heads * in.slices());
  const auto samples = static_cast<unsigned>(in.samples);
  const auto pieces = static_cast<unsigned>(in.pieces.count);
  launch(stream, k.name, {dim3(slices, samples, pieces), kProductThreads, room.used()},
         delta_added<T>, steps);
  launch(stream, k.name, {dim3(slices, samples), kProductThreads, room.used()}, delta_walk_back<T>,
         steps);
}

template <class T>
void run_gradients(device::CudaStream& stream, const DeltaRuleBackward& k, const Inputs<T>& in,
                   const Workspace& own) {
  SharedRoom room(nullptr);
  const GradientRoom counted(room, in.keys);
  const dim3 grid(static_cast<unsigned>(in.heads), static_cast<unsigned>(in.samples),
                  static_cast<unsigned>(in.pieces.count));
  launch(stream, k.name, {grid, kProductThreads, room.used()}, delta_gradients<T>,
         Gradients<T>{in, Positions<const T>(k.d_o), k.states.as<float>(), own.behind,
                      Positions<const float>(like_values(k, own.added)),
                      Positions<const float>(like_values(k, own.given)), Positions<T>(k.dv),
                      Positions<T>(k.dbeta), Positions<T>(k.dalpha), own.dq, own.dk, own.sums});
  const auto finish = [&](const In& x, const float* parts, const Out& dx) {
    const Index rows = x.size(0) * x.size(1), tasks = rows * k.in.key_heads;
    constexpr Index kRows = kThreads / kWarp;
    launch(stream, k.name,
           {static_cast<unsigned>((tasks + kRows - 1) / kRows),
            dim3(kWarp, static_cast<unsigned>(kRows))},
           unit_gradients<T>,
           UnitGradients<T>{Positions<const T>(x), Positions<T>(dx), parts, rows, x.size(1),
                            in.served, static_cast<int>(k.in.key_heads), in.keys});
  };
  finish(k.in.q, own.dq, k.dq), finish(k.in.k, own.dk, k.dk);
}

}  // namespace

void run(device::CudaStream& stream, const DeltaRuleBackward& k) {
  const Workspace own(k);
  MPITRON_CHECK(k.workspace.bytes() >= own.bytes, k.workspace.bytes());
  visit_element(k.in.q.dtype, [&]<class T>() {
    const Inputs<T> in(k.in, k.chunk);
    run_steps(stream, k, in, own);
    run_gradients(stream, k, in, own);
    const auto add_heads = [&](HeadSum place, const InOut& to) {
      add_partials(
          stream, k.name,
          {own.sums + place * in.heads, in.pieces.count * in.samples, Index{kHeadSums} * in.heads},
          k.accumulate, to);
    };
    add_heads(to_a_log, k.da_log), add_heads(to_dt_bias, k.ddt_bias);
  });
}

Index workspace_bytes(const device::CudaStream&, const DeltaRuleBackward& k) {
  return Workspace(k).bytes;
}

}  // namespace mpitron::kernels
