#include "kernels/state_space/causal_conv.h"

#include "kernels/host/common/fetch_ahead.h"
#include "kernels/host/state_space/conv_steps.h"
#include "kernels/host/state_space/silu.h"
#include "kernels/state_space/document_starts.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

constexpr Index kTile = 64;   // channels; a thread has one or more of these tiles
constexpr Index kBlock = 32;  // positions whose sums are added in fp32
constexpr Index kSteps = ConvSteps::kSteps, kUsual = ConvSteps::kTaps;
constexpr Index kWork = 8;  // of a position, in elements copied

/// The first tap that sees a position of the document that position i is of.
Index first_tap(const Taps& taps, Index i, Index start) {
  return std::max<Index>(0, taps.width() - 1 - (i - start));
}

/// What the activation gets at position i, from the taps from `first` on, in these lanes.
template <class T, class Lanes>
[[gnu::always_inline]] inline Float convolved(const SampleRows<const T>& x, const Taps& taps,
                                              Index i, Index first, Index c, Lanes lanes) {
  Float sum = simd::load(taps.bias() + c, lanes);
  for (Index k = first; k < taps.width(); ++k) {
    sum = simd::fma(simd::load(x[i - taps.width() + 1 + k] + c, lanes),
                    simd::load(taps.row(k) + c, lanes), sum);
  }
  return sum;
}

/// What kSteps positions get in a tile of channels, on its way to memory: stores past the caches
/// want whole lines, which lanes of a narrow type fill only together with their neighbours.
class StepResults {
 public:
  template <class Lanes>
  [[gnu::always_inline]] void put(Index step, Index c, Float value, Lanes lanes) {
    simd::store(rows_[step] + c, value, lanes);
  }
  /// Position `first` and those behind it, channels [c, c + count) of `to`.
  template <class T, class Store>
  [[gnu::always_inline]] void write(const SampleRows<T>& to, Index first, Index c, Index count,
                                    Store store) const {
    for (Index step = 0; step < kSteps; ++step) {
      T* const row = to[first + step] + c;
      for_several<T>(
          count, [&](Index j, auto lanes) __attribute__((always_inline)) {
            host::write(store, row + j, read(rows_[step] + j, lanes), lanes);
          });
    }
  }

 private:
  alignas(64) float rows_[kSteps][kTile];
};

/// f(c, count) for the tiles of `channels` channels.
template <class F>
[[gnu::always_inline]] inline void for_channel_tiles(Index channels, F&& f) {
  for (Index c = 0; c < channels; c += kTile) {
    f(c, std::min(kTile, channels - c));
  }
}

/// Whether positions [i, i + count) are kSteps whose taps all see their document.
bool has_steps(const Taps& taps, Index i, Index count, Index start_of_last) {
  return taps.width() == kUsual && count == kSteps && i >= kUsual - 1 &&
         start_of_last <= i - kUsual + 1;
}

/// f(first channel, count) on threads, each of which has all samples of some channels.
template <class F>
void for_channels(const In& x, F&& f) {
  const Index channels = x.size(2);
  for_ranges((channels + kTile - 1) / kTile, kWork * x.numel(), [&](Index begin, Index end) {
    f(begin * kTile, std::min(end * kTile, channels) - begin * kTile);
  });
}

template <class T, class Store>
void convolve(const CausalConvForward& k, const Taps& taps, Index begin, Index count, Store store) {
  const DocumentStarts starts(k.starts);
  const Index s = k.x.size(0);
  StepResults results;
  for (Index sample = 0; sample < k.x.size(1); ++sample) {
    const SampleRows<const T> x(k.x, sample, begin);
    const SampleRows<T> y(k.y, sample, begin);
    for (Index i = 0; i < s; i += kSteps) {
      const Index end = std::min(s, i + kSteps);
      if (has_steps(taps, i, end - i, starts(end - 1, sample))) {
        for_channel_tiles(count, [&](Index first, Index columns) {
          simd::for_lanes(columns, [&](Index c, auto lanes) {
            const ConvSteps steps(x, taps, i, first + c, lanes);
#pragma GCC unroll 2
            for (Index step = 0; step < kSteps; step += ConvSteps::kTogether) {
              const Several opened = silu<T>(steps.together(step)).value;
#pragma GCC unroll 4
              for (Index i = 0; i < ConvSteps::kTogether; ++i) {
                results.put(step + i, c, opened.v[i], lanes);
              }
            }
          });
          results.write(y, i, first, columns, store);
        });
        continue;
      }
      for (Index at = i; at < end; ++at) {
        const Index first = first_tap(taps, at, starts(at, sample));
        simd::for_lanes(count, [&](Index c, auto lanes) {
          const Float sum = convolved(x, taps, at, first, c, lanes);
          store(y[at] + c, silu<T>(sum).value, lanes);
        });
      }
    }
  }
}

/// Sums over positions for each tap and the bias: blocks of positions in fp32, blocks in double.
class TapSums {
 public:
  TapSums(Index rows, Index columns)
      : columns_(columns),
        block_(static_cast<std::size_t>(rows * columns), 0.F),
        total_(block_.size(), 0.0) {}
  float* row(Index k) { return block_.data() + k * columns_; }
  void end_block() {
    for (std::size_t i = 0; i < block_.size(); ++i) {
      total_[i] += static_cast<double>(block_[i]);
    }
    std::ranges::fill(block_, 0.F);
  }
  double total(Index k, Index c) const {
    return total_[static_cast<std::size_t>(k * columns_ + c)];
  }

 private:
  Index columns_;
  std::vector<float> block_;
  std::vector<double> total_;
};

/// Some channels of all samples, backwards.
template <class T, class Store>
class ChannelGradients {
 public:
  ChannelGradients(const CausalConvBackward& k, Index begin, Index count, Store store)
      : k_(k),
        begin_(begin),
        count_(count),
        store_(store),
        taps_(k.weight, k.bias, begin, count),
        starts_(k.starts),
        sums_(taps_.width() + 1, count),
        before_(static_cast<std::size_t>((taps_.width() - 1 + std::max(kSteps, taps_.width() - 1)) *
                                         count)) {}

  void run() {
    for (Index sample = 0; sample < k_.x.size(1); ++sample) {
      run(sample);
    }
    for (Index c = 0; c < count_; ++c) {
      for (Index tap = 0; tap < taps_.width(); ++tap) {
        put_number(k_.dweight, (begin_ + c) * taps_.width() + tap, sums_.total(tap, c),
                   k_.accumulate_weight);
      }
      if (k_.dbias) {
        put_number(k_.dbias, begin_ + c, sums_.total(taps_.width(), c), k_.accumulate_bias);
      }
    }
  }

 private:
  static constexpr Index kBefore = kUsual - 1;

  void run(Index sample) {
    const Index s = k_.x.size(0);
    std::ranges::fill(before_, 0.F);
    for (Index i = 0; i < s; i += kSteps) {
      const Index end = std::min(s, i + kSteps);
      if (has_steps(taps_, i, end - i, starts_(end - 1, sample))) {
        run_steps(sample, i);
      } else {
        differentiate(sample, i, end);
        spread(sample, i, end - i);
      }
      if (end % kBlock == 0 || end == s) {
        sums_.end_block();
      }
    }
    std::fill(before_.begin() + (taps_.width() - 1) * count_, before_.end(), 0.F);
    spread(sample, s, taps_.width() - 1);
  }

  /// The gradient before the activation, by that behind it.
  [[gnu::always_inline]] static Float through_silu(Float given, Float sum) {
    return given * silu<T>(sum).slope;
  }
  /// A row of gradients before the activation: those of the last w - 1 positions, then new ones.
  float* before(Index row) { return before_.data() + row * count_; }

  void run_steps(Index sample, Index i) {
    const SampleRows<const T> x(k_.x, sample, begin_), dy(k_.dy, sample, begin_);
    const SampleRows<T> dx(k_.dx, sample, begin_);
    for_channel_tiles(count_, [&](Index first, Index columns) {
      simd::for_lanes(columns, [&](Index c, auto lanes) { run_steps(x, dy, i, first, c, lanes); });
      results_.write(dx, i - kBefore, first, columns, store_);
    });
  }
  /// The same in lanes c of the tile from channel `first` on; `results_` gets dx.
  template <class Lanes>
  [[gnu::always_inline]] void run_steps(const SampleRows<const T>& x, const SampleRows<const T>& dy,
                                        Index i, Index first, Index c, Lanes lanes) {
    const Index channel = first + c;
    const ConvSteps steps(x, taps_, i, channel, lanes);
    Float gradients[kBefore + kSteps];
#pragma GCC unroll 4
    for (Index row = 0; row < kBefore; ++row) {
      gradients[row] = simd::load(before(row) + channel, lanes);
    }
    float* const bias = sums_.row(kUsual) + channel;
    Float to_bias = simd::load(bias, lanes);
#pragma GCC unroll 2
    for (Index step = 0; step < kSteps; step += ConvSteps::kTogether) {
      const Several slopes = silu<T>(steps.together(step)).slope;
#pragma GCC unroll 4
      for (Index at = step; at < step + ConvSteps::kTogether; ++at) {
        fetch(dy[i + kSteps + at] + channel);
        gradients[kBefore + at] = simd::load(dy[i + at] + channel, lanes) * slopes.v[at - step];
        to_bias += gradients[kBefore + at];
      }
    }
    simd::store(bias, to_bias, lanes);
#pragma GCC unroll 4
    for (Index tap = 0; tap < kUsual; ++tap) {
      float* const to = sums_.row(tap) + channel;
      Float sum = simd::load(to, lanes);
#pragma GCC unroll 8
      for (Index step = 0; step < kSteps; ++step) {
        sum = simd::fma(gradients[kBefore + step], steps.inputs[step + tap], sum);
      }
      simd::store(to, sum, lanes);
    }
#pragma GCC unroll 8
    for (Index step = 0; step < kSteps; ++step) {
      Float sum{};
#pragma GCC unroll 4
      for (Index tap = 0; tap < kUsual; ++tap) {
        sum = simd::fma(gradients[step + kBefore - tap], steps.taps[tap], sum);
      }
      results_.put(step, c, sum, lanes);
    }
#pragma GCC unroll 4
    for (Index row = 0; row < kBefore; ++row) {
      simd::store(before(row) + channel, gradients[kSteps + row], lanes);
    }
  }

  /// The gradients before the activation at positions [i, end), and the taps' sums of them.
  void differentiate(Index sample, Index i, Index end) {
    const SampleRows<const T> x(k_.x, sample, begin_), dy(k_.dy, sample, begin_);
    const Index width = taps_.width();
    for (Index at = i; at < end; ++at) {
      const Index first = first_tap(taps_, at, starts_(at, sample));
      float* const to_row = before(width - 1 + at - i);
      simd::for_lanes(count_, [&](Index c, auto lanes) {
        const Float gradient =
            through_silu(simd::load(dy[at] + c, lanes), convolved(x, taps_, at, first, c, lanes));
        simd::store(to_row + c, gradient, lanes);
        float* bias = sums_.row(width) + c;
        simd::store(bias, simd::load(bias, lanes) + gradient, lanes);
        for (Index tap = first; tap < width; ++tap) {
          float* to = sums_.row(tap) + c;
          const Float value = simd::load(x[at - width + 1 + tap] + c, lanes);
          simd::store(to, simd::fma(gradient, value, simd::load(to, lanes)), lanes);
        }
      });
    }
  }
  /// The first tap by which a later position of the same document has seen position i.
  Index first_tap_back(Index i, Index sample) const {
    const Index s = k_.x.size(0), last = taps_.width() - 1;
    const auto sees = [&](Index later) { return later < s && starts_(later, sample) <= i; };
    Index tap = 0;
    while (tap < last && !sees(i + last - tap)) {
      ++tap;
    }
    return tap;
  }
  /// dx of the w - 1 positions before i and of [i, i + count) without the last w - 1 of them.
  void spread(Index sample, Index i, Index count) {
    const SampleRows<T> dx(k_.dx, sample, begin_);
    const Index last = taps_.width() - 1;
    for (Index row = std::max<Index>(0, last - i); row < count; ++row) {
      const Index first = first_tap_back(i - last + row, sample);
      simd::for_lanes(count_, [&](Index c, auto lanes) {
        Float sum{};
        for (Index tap = first; tap < taps_.width(); ++tap) {
          sum = simd::fma(simd::load(before(row + last - tap) + c, lanes),
                          simd::load(taps_.row(tap) + c, lanes), sum);
        }
        store_(dx[i - last + row] + c, sum, lanes);
      });
    }
    std::copy(before(count), before(count + last), before(0));
  }

  const CausalConvBackward& k_;
  Index begin_, count_;
  Store store_;
  Taps taps_;
  DocumentStarts starts_;
  TapSums sums_;
  StepResults results_;
  std::vector<float> before_;  // [w - 1 + max(kSteps, w - 1), channels]
};

}  // namespace

void run(device::HostStream&, const CausalConvForward& k) {
  visit_dtype(k.x.dtype, [&]<class T>() {
    for_channels(k.x, [&](Index begin, Index count) {
      const Taps taps(k.weight, k.bias, begin, count);
      with_store(should_stream(k.y, Rows<T>(k.y), k.x),
                 [&](auto store) { convolve<T>(k, taps, begin, count, store); });
    });
  });
}

void run(device::HostStream&, const CausalConvBackward& k) {
  visit_dtype(k.x.dtype, [&]<class T>() {
    for_channels(k.x, [&](Index begin, Index count) {
      with_store(should_stream(k.dx, Rows<T>(k.dx), k.x, k.dy), [&](auto store) {
        ChannelGradients<T, decltype(store)>(k, begin, count, store).run();
      });
    });
  });
}

}  // namespace mpitron::kernels
