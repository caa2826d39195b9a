// Numerical contract: that of causal_conv.h. dweight and dbias: in fp32 over runs of 16 to 64
// positions of a sample, by the shape; then as add_partials does over runs, by samples.
#include "kernels/cuda/common/column_sums.cuh"
#include "kernels/cuda/state_space/causal_conv.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;
using namespace cuda::conv;

template <class T>
struct Forward {
  Positions<const T> x;
  Numbers weight, bias;
  DocumentStarts starts;
  Positions<T> y;
  Runs runs;
  Index channels;
  int width;
};

/// A run's positions in order; several of them are on their way at once.
template <class T, int W, int N>
__global__ void conv_forward(const __grid_constant__ Forward<T> a) {
  constexpr int kAhead = 4;
  const Index channel = thread_of_grid().index * N, sample = blockIdx.y;
  if (channel >= a.channels) {
    return;
  }
  const Taps<W, N> taps(a.weight, a.bias, channel, a.width);
  const Index begin = static_cast<Index>(blockIdx.z) * a.runs.size;
  const Index end = min(begin + a.runs.size, a.runs.length);
  const auto read = [&](Index i) { return load_raw(a.x.at(i, sample) + channel, Width<N>()); };
  Floats<N> window[W] = {};
#pragma unroll
  for (int k = 1; k < W; ++k) {
    if (begin - W + k >= 0) {
      window[k] = floats(read(begin - W + k));
    }
  }
  for (Index first = begin; first < end; first += kAhead) {
    Raw<T, N> next[kAhead];
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
      if (first + ahead < end) {
        next[ahead] = read(first + ahead);
      }
    }
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
      const Index i = first + ahead;
      if (i < end) {
        shift(window, floats(next[ahead]));
        const Floats<N> sum = taps.before_activation(window, i, a.starts(i, sample));
        store(a.y.at(i, sample) + channel, each([](float s) { return s * sigmoid(s); }, sum));
      }
    }
  }
}

template <class T>
struct Backward {
  Positions<const T> x, dy;
  Numbers weight, bias;
  DocumentStarts starts;
  Positions<T> dx;
  float* sums;  // [b, runs]: dweight [c, w], dbias [c]
  Runs runs;
  Index channels;
  int width;

  Index of_run() const { return channels * (width + 1); }
};

/// A run's positions, and as many behind it as see the run: what these get through the activation
/// is computed again there, and of the sums each run has its own positions.
template <class T, int W, int N>
__global__ void conv_backward(const __grid_constant__ Backward<T> a) {
  const Index channel = thread_of_grid().index * N, sample = blockIdx.y;
  if (channel >= a.channels) {
    return;
  }
  const Taps<W, N> taps(a.weight, a.bias, channel, a.width);
  const Index begin = static_cast<Index>(blockIdx.z) * a.runs.size;
  const Index end = min(begin + a.runs.size, a.runs.length);
  Floats<N> window[W] = {}, to_x[W] = {}, to_weight[W] = {}, to_bias{};
#pragma unroll
  for (int k = 1; k < W; ++k) {
    if (begin - W + k >= 0) {
      window[k] = load(a.x.at(begin - W + k, sample) + channel, Width<N>());
    }
  }
  for (Index i = begin; i < end + W - 1; ++i) {
    if (i < a.runs.length) {
      shift(window, load(a.x.at(i, sample) + channel, Width<N>()));
      const Index start = a.starts(i, sample);
      const Floats<N> gradient = each(
          [](float s, float dy) {
            const float open = sigmoid(s);
            return dy * open * (1 + s * (1 - open));
          },
          taps.before_activation(window, i, start), load(a.dy.at(i, sample) + channel, Width<N>()));
#pragma unroll
      for (int k = 0; k < W; ++k) {
        if (taps.sees(k, i, start)) {
          const auto add = [](float s, float g, float v) { return s + g * v; };
          to_x[k] = each(add, to_x[k], gradient, taps.weight[k]);
          if (i < end) {
            to_weight[k] = each(add, to_weight[k], gradient, window[k]);
          }
        }
      }
      if (i < end) {
        to_bias = each(Sum{}, to_bias, gradient);
      }
    }
    const Index done = i - W + 1;  // nobody later sees it
    if (done >= begin && done < end) {
      store(a.dx.at(done, sample) + channel, to_x[0]);
    }
    shift(to_x, Floats<N>{});
  }
  float* const sums = a.sums + (sample * a.runs.count + blockIdx.z) * a.channels * (a.width + 1);
  for (int j = 0; j < N; ++j) {
#pragma unroll
    for (int k = 0; k < W; ++k) {
      if (k >= taps.first) {
        sums[(channel + j) * a.width + k - taps.first] = to_weight[k][j];
      }
    }
    sums[a.channels * a.width + channel + j] = to_bias[j];
  }
}

bool divides_into_packs(Index channels) {
  return channels % kPack == 0;
}

}  // namespace

void run(device::CudaStream& stream, const CausalConvForward& k) {
  visit_element(k.x.dtype, [&]<class T>() {
    const Forward<T> a{
        Positions<const T>(k.x), k.weight,  k.bias,      DocumentStarts(k.starts),
        Positions<T>(k.y),       k.x.shape, k.x.size(2), static_cast<int>(k.weight.size(2))};
    const bool packed = divides_into_packs(a.channels) && a.x.packed && a.y.packed;
    visit_taps(a.width, packed, [&]<int W, int N>() {
      launch(stream, k.name, shape_of(a.runs, a.channels, N), conv_forward<T, W, N>, a);
    });
  });
}

void run(device::CudaStream& stream, const CausalConvBackward& k) {
  MPITRON_CHECK(k.workspace.bytes() >= workspace_bytes(stream, k), k.workspace.bytes());
  visit_element(k.x.dtype, [&]<class T>() {
    const Backward<T> a{Positions<const T>(k.x),
                        Positions<const T>(k.dy),
                        k.weight,
                        k.bias,
                        DocumentStarts(k.starts),
                        Positions<T>(k.dx),
                        static_cast<float*>(k.workspace.data),
                        k.x.shape,
                        k.x.size(2),
                        static_cast<int>(k.weight.size(2))};
    const bool packed = divides_into_packs(a.channels) && a.x.packed && a.dy.packed && a.dx.packed;
    visit_taps(a.width, packed, [&]<int W, int N>() {
      launch(stream, k.name, shape_of(a.runs, a.channels, N), conv_backward<T, W, N>, a);
    });
    const Index stride = a.of_run();
    add_partials(stream, k.name, {a.sums, a.runs.all(), stride}, k.accumulate_weight, k.dweight);
    if (k.dbias) {
      add_partials(stream, k.name, {a.sums + a.channels * a.width, a.runs.all(), stride},
                   k.accumulate_bias, k.dbias);
    }
  });
}

Index workspace_bytes(const device::CudaStream&, const CausalConvBackward& k) {
  const Index of_run = k.x.size(2) * (k.weight.size(2) + 1);
  return Runs(k.x.shape).all() * of_run * static_cast<Index>(sizeof(float));
}

}  // namespace mpitron::kernels
