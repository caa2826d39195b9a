// Numerical contract: that of cached_recurrence.h: fp32, position by position; decays in double
// until they are raised. A thread has one channel of the convolution, or one column of a head's
// state, of one piece, and goes through its rows in order, so a row's bits depend on its own
// sequence alone; the lengths of keys and queries are summed by a block in a fixed order.
#include "intrinsics.cuh"
#include "kernels/cuda/common/any_elements.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/elementwise/activation_math.cuh"
#include "kernels/cuda/state_space/positions.cuh"
#include "kernels/state_space/cached_recurrence.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

constexpr int kThreadsOfPiece = 128, kMostTaps = 8;

/// Pieces of a launch, among its arguments.
struct Pieces {
  static constexpr int kMost = 64;
  struct Piece {
    int first, rows, from, to;  // rows; places of states, from -1: zeros
  };
  Piece of[kMost];
  int count;
};

/// f(pieces) for all that have rows, so many at once as fit a launch.
template <class F>
void for_launches(std::span<const CachedPiece> all, F&& f) {
  Pieces pieces{};
  for (const CachedPiece& piece : all) {
    if (piece.rows > 0) {
      pieces.of[pieces.count++] = {static_cast<int>(piece.first_row), static_cast<int>(piece.rows),
                                   static_cast<int>(piece.state_from),
                                   static_cast<int>(piece.state_to)};
    }
    if (pieces.count == Pieces::kMost) {
      f(pieces);
      pieces.count = 0;
    }
  }
  if (pieces.count > 0) {
    f(pieces);
  }
}

LaunchShape shape_of(Index columns, Index heads, const Pieces& pieces) {
  return {dim3(static_cast<unsigned>((columns + kThreadsOfPiece - 1) / kThreadsOfPiece),
               static_cast<unsigned>(heads), static_cast<unsigned>(pieces.count)),
          kThreadsOfPiece};
}

template <class T>
struct Conv {
  Positions<const T> x;
  Numbers weight, bias;
  T* states;  // [places, w - 1, c]
  Index place_stride, row_stride;
  Positions<T> y;
  Index channels;
  int width;
};

/// The taps lie at the end of the window, whose last place is a position's own.
template <class T>
__global__ void cached_conv(const __grid_constant__ Conv<T> a,
                            const __grid_constant__ Pieces pieces) {
  const Index channel = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (channel >= a.channels) {
    return;
  }
  const Pieces::Piece piece = pieces.of[blockIdx.z];
  const int first = kMostTaps - a.width;
  const auto state = [&](int place, int k) -> T& {
    return a.states[place * a.place_stride + (k - first - 1) * a.row_stride + channel];
  };
  float weights[kMostTaps] = {}, window[kMostTaps] = {};
#pragma unroll
  for (int k = 0; k < kMostTaps; ++k) {
    if (k >= first) {
      weights[k] = a.weight.load(channel * a.width + k - first, Width<1>())[0];
    }
    if (k > first && piece.from >= 0) {
      window[k] = static_cast<float>(state(piece.from, k));
    }
  }
  const float bias = a.bias.data == nullptr ? 0.f : a.bias.load(channel, Width<1>())[0];
  for (Index row = piece.first; row < piece.first + piece.rows; ++row) {
    float sum = bias;
#pragma unroll
    for (int k = 0; k < kMostTaps; ++k) {
      window[k] = k + 1 < kMostTaps ? window[k + 1] : static_cast<float>(a.x.at(row, 0)[channel]);
      sum = fmaf(window[k], weights[k], sum);
    }
    a.y.at(row, 0)[channel] = static_cast<T>(sum * sigmoid(sum));
  }
#pragma unroll
  for (int k = 0; k < kMostTaps; ++k) {
    if (k > first) {
      state(piece.to, k) = static_cast<T>(window[k]);
    }
  }
}

__device__ double softplus_of(double x) {
  return fmax(x, 0.0) + log1p(exp(-fabs(x)));
}

/// A head's number of an array of them, in double.
__device__ double number_of(const Numbers& of, Index head) {
  return static_cast<double>(of.load(head, Width<1>())[0]);
}

template <class T>
struct Scan {
  Positions<const T> x, b, c, dt;
  Numbers a_log, d, dt_bias;
  float* states;  // [places, heads, n, p]
  Index place_stride;
  Positions<T> y;
  int heads_of_group, n, p;
};

/// Neighbours have neighbouring columns of a state, whose rows each adds up by itself.
template <class T>
__global__ void cached_scan(const __grid_constant__ Scan<T> a,
                            const __grid_constant__ Pieces pieces) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (column >= a.p) {
    return;
  }
  const Pieces::Piece piece = pieces.of[blockIdx.z];
  const Index head = blockIdx.y, group = head / a.heads_of_group, size = Index{a.n} * a.p;
  float* const own = a.states + piece.to * a.place_stride + head * size + column;
  const float* before =
      piece.from < 0 ? nullptr : a.states + piece.from * a.place_stride + head * size + column;
  const double rate = -exp(number_of(a.a_log, head)), bias = number_of(a.dt_bias, head);
  const auto skip = static_cast<float>(number_of(a.d, head));
  for (Index row = piece.first; row < piece.first + piece.rows; ++row, before = own) {
    const double step =
        softplus_of(static_cast<double>(static_cast<float>(a.dt.at(row, 0)[head])) + bias);
    const auto dt = static_cast<float>(step), keep = static_cast<float>(exp(step * rate));
    const auto x = static_cast<float>(a.x.at(row, 0)[head * a.p + column]);
    const T *const b = a.b.at(row, 0) + group * a.n, *const c = a.c.at(row, 0) + group * a.n;
    float y = 0;
    for (int i = 0; i < a.n; ++i) {
      const Index at = Index{i} * a.p;
      const float kept = before == nullptr ? 0.f : keep * before[at];
      const float value = fmaf(dt * static_cast<float>(b[i]), x, kept);
      own[at] = value;
      y = fmaf(static_cast<float>(c[i]), value, y);
    }
    a.y.at(row, 0)[head * a.p + column] = static_cast<T>(fmaf(skip, x, y));
  }
}

template <class T>
struct Delta {
  Positions<const T> q, k, v, beta, alpha;
  Numbers a_log, dt_bias;
  float* states;  // [places, value heads, k, v]
  Index place_stride;
  Positions<T> o;
  int served, keys, values;

  /// Brings a row's head of keys or queries to length 1. All threads of the block come here.
  __device__ void load_unit(const Positions<const T>& from, Index row, Index head, float* to,
                            float* partial) const {
    const T* const x = from.at(row, 0) + head / served * keys;
    float square = 0;
    for (int i = static_cast<int>(threadIdx.x); i < keys; i += static_cast<int>(blockDim.x)) {
      to[i] = static_cast<float>(x[i]);
      square += to[i] * to[i];
    }
    const float factor = 1 / sqrtf(block_sum(square, partial) + 1e-6f);
    for (int i = static_cast<int>(threadIdx.x); i < keys; i += static_cast<int>(blockDim.x)) {
      to[i] *= factor;
    }
  }
};

/// A block has one head; its threads share out the columns of the state, and hold the row's key and
/// query together.
template <class T>
__global__ void cached_delta_rule(const __grid_constant__ Delta<T> a,
                                  const __grid_constant__ Pieces pieces) {
  float* const unit = dynamic_shared<float>();  // key, then query
  __shared__ float partial[kMostWarps];
  const Pieces::Piece piece = pieces.of[blockIdx.z];
  const Index head = blockIdx.y, size = Index{a.keys} * a.values;
  float *const key = unit, *const query = unit + a.keys;
  float* const own = a.states + piece.to * a.place_stride + head * size;
  const float* before =
      piece.from < 0 ? nullptr : a.states + piece.from * a.place_stride + head * size;
  const double rate = -exp(number_of(a.a_log, head)), bias = number_of(a.dt_bias, head);
  const float scale = 1 / sqrtf(static_cast<float>(a.keys));
  for (Index row = piece.first; row < piece.first + piece.rows; ++row, before = own) {
    __syncthreads();  // nobody reads the last row's key any more
    a.load_unit(a.k, row, head, key, partial);
    a.load_unit(a.q, row, head, query, partial);
    __syncthreads();
    const auto raw = static_cast<double>(static_cast<float>(a.alpha.at(row, 0)[head]));
    const auto keep = static_cast<float>(exp(rate * softplus_of(raw + bias)));
    const float beta = 1 / (1 + expf(-static_cast<float>(a.beta.at(row, 0)[head])));
    for (int column = static_cast<int>(threadIdx.x); column < a.values;
         column += static_cast<int>(blockDim.x)) {
      auto missing = static_cast<float>(a.v.at(row, 0)[head * a.values + column]);
      for (int i = 0; i < a.keys; ++i) {
        const Index at = Index{i} * a.values + column;
        const float kept = before == nullptr ? 0.f : keep * before[at];
        own[at] = kept;
        missing = fmaf(-kept, key[i], missing);
      }
      float o = 0;
      for (int i = 0; i < a.keys; ++i) {
        const Index at = Index{i} * a.values + column;
        const float value = fmaf(key[i] * beta, missing, own[at]);
        own[at] = value;
        o = fmaf(query[i] * scale, value, o);
      }
      a.o.at(row, 0)[head * a.values + column] = static_cast<T>(o);
    }
  }
}

}  // namespace

void run(device::CudaStream& stream, const CachedConv& k) {
  const Index channels = k.x.size(2), width = k.weight.size(2);
  MPITRON_CHECK(width <= kMostTaps, width);
  MPITRON_CHECK(k.x.dtype == k.states.dtype && k.x.dtype == k.y.dtype, name_of(k.states.dtype));
  visit_element(k.x.dtype, [&]<class T>() {
    const Conv<T> a{Positions<const T>(k.x), k.weight,           k.bias,
                    elements<T>(k.states),   k.states.stride(0), k.states.stride(1),
                    Positions<T>(k.y),       channels,           static_cast<int>(width)};
    for_launches(k.pieces, [&](const Pieces& pieces) {
      launch(stream, CachedConv::name, shape_of(channels, 1, pieces), cached_conv<T>, a, pieces);
    });
  });
}

void run(device::CudaStream& stream, const CachedScan& k) {
  const ScanInputs& in = k.in;
  visit_element(in.x.dtype, [&]<class T>() {
    const Scan<T> a{Positions<const T>(in.x),
                    Positions<const T>(in.b),
                    Positions<const T>(in.c),
                    Positions<const T>(in.dt),
                    in.a_log,
                    in.d,
                    in.dt_bias,
                    k.states.as<float>(),
                    k.states.stride(0),
                    Positions<T>(k.y),
                    static_cast<int>(in.heads_of_group()),
                    static_cast<int>(in.state_dim()),
                    static_cast<int>(in.head_dim())};
    for_launches(k.pieces, [&](const Pieces& pieces) {
      launch(stream, CachedScan::name, shape_of(in.head_dim(), in.heads(), pieces), cached_scan<T>,
             a, pieces);
    });
  });
}

void run(device::CudaStream& stream, const CachedDeltaRule& k) {
  const DeltaRuleInputs& in = k.in;
  visit_element(in.q.dtype, [&]<class T>() {
    const Delta<T> a{Positions<const T>(in.q),
                     Positions<const T>(in.k),
                     Positions<const T>(in.v),
                     Positions<const T>(in.beta),
                     Positions<const T>(in.alpha),
                     in.a_log,
                     in.dt_bias,
                     k.states.as<float>(),
                     k.states.stride(0),
                     Positions<T>(k.o),
                     static_cast<int>(in.served()),
                     static_cast<int>(in.key_dim()),
                     static_cast<int>(in.value_dim())};
    for_launches(k.pieces, [&](const Pieces& pieces) {
      LaunchShape shape = shape_of(1, in.value_heads(), pieces);
      shape.shared_bytes = static_cast<std::size_t>(2 * in.key_dim()) * sizeof(float);
      launch(stream, CachedDeltaRule::name, shape, cached_delta_rule<T>, a, pieces);
    });
  });
}

}  // namespace mpitron::kernels
