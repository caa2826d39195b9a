#pragma once
#include "kernels/cuda/common/any_elements.cuh"
#include "kernels/cuda/elementwise/activation_math.cuh"
#include "kernels/cuda/state_space/positions.cuh"
#include "kernels/state_space/causal_conv.h"
#include "kernels/state_space/document_starts.h"

// How both directions of the convolution share out their work: a thread has N neighbouring channels
// of a run of positions of one sample, and keeps what its taps reach in registers.

namespace mpitron::kernels::cuda::conv {

/// Runs of positions: [runs, b] of them, each with `size` but for a sample's last one.
struct Runs {
  Index length, samples, size, count;  // of one sample

  /// As long as leaves enough threads: the taps before a run are read, and the gradients behind it
  /// computed, twice. By the shape alone.
  Runs(const Shape& x) : length(x[0]), samples(x[1]) {  // NOLINT(google-explicit-constructor)
    constexpr Index kThreadsWanted = 1 << 17, kShortest = 16, kLongest = 64;
    size = std::clamp(x.numel() / kPack / kThreadsWanted, kShortest, kLongest);
    count = (length + size - 1) / size;
  }
  Index all() const { return count * samples; }
};

/// Taps of N channels, the last of which is the position's own; those in front of the filter's are
/// not there.
template <int W, int N>
struct Taps {
  Floats<N> weight[W], bias;
  int first;  // tap of the filter

  __device__ Taps(const Numbers& weights, const Numbers& biases, Index channel, int width)
      : first(W - width) {
    bias = biases.data == nullptr ? Floats<N>{} : each_number(biases, channel, 1);
#pragma unroll
    for (int k = 0; k < W; ++k) {
      weight[k] =
          k < first ? Floats<N>{} : each_number(weights, channel * width + k - first, width);
    }
  }
  /// Whether tap k of position i sees a position of the document that begins at `start`.
  __device__ bool sees(int k, Index i, Index start) const {
    return k >= first && i - W + 1 + k >= start;
  }
  /// What goes into the activation, of the window whose last element is the position's own.
  __device__ Floats<N> before_activation(const Floats<N> (&window)[W], Index i, Index start) const {
    Floats<N> sum = bias;
#pragma unroll
    for (int k = 0; k < W; ++k) {
      if (sees(k, i, start)) {
        sum = each([](float s, float w, float x) { return s + w * x; }, sum, weight[k], window[k]);
      }
    }
    return sum;
  }

 private:
  __device__ static Floats<N> each_number(const Numbers& numbers, Index first, Index step) {
    Floats<N> x;
    for (int j = 0; j < N; ++j) {
      x[j] = numbers.load(first + j * step, Width<1>())[0];
    }
    return x;
  }
};

/// Moves the window on by a position, whose place is the last one.
template <int W, int N>
__device__ void shift(Floats<N> (&window)[W], const Floats<N>& next) {
#pragma unroll
  for (int k = 0; k + 1 < W; ++k) {
    window[k] = window[k + 1];
  }
  window[W - 1] = next;
}

/// Taps of a filter: of usual ones a thread has packs of channels, of longer ones single channels.
inline constexpr int kUsualTaps = 4, kMostTaps = 8;

/// Calls f<W, N>() with the taps of the kernel that has `width` of them, and the channels of a
/// thread.
template <class F>
void visit_taps(Index width, bool packed, F&& f) {
  MPITRON_CHECK(width <= kMostTaps, width);
  if (width > kUsualTaps) {
    f.template operator()<kMostTaps, 1>();
  } else if (packed) {
    f.template operator()<kUsualTaps, kPack>();
  } else {
    f.template operator()<kUsualTaps, 1>();
  }
}

/// Threads for all runs: neighbours have neighbouring channels.
inline LaunchShape shape_of(const Runs& runs, Index channels, int of_thread) {
  const Index columns = (channels + of_thread - 1) / of_thread;
  const unsigned x = columns >= 4 * 32u ? 4 * 32u : 32u;
  return {dim3(static_cast<unsigned>((columns + x - 1) / x), static_cast<unsigned>(runs.samples),
               static_cast<unsigned>(runs.count)),
          x};
}

}  // namespace mpitron::kernels::cuda::conv
