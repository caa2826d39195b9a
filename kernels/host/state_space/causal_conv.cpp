#include "kernels/state_space/causal_conv.h"

#include "kernels/host/state_space/conv_taps.h"
#include "kernels/state_space/document_starts.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

constexpr Index kColumns = Taps::kColumns;
constexpr Index kBlock = 32;  // positions whose sums are added in fp32
constexpr Index kWork = 8;    // of a position, in elements copied

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

/// f(first channel, count) over tiles of channels, on threads.
template <class F>
void for_columns(const In& x, F&& f) {
  const Index channels = x.size(2);
  for_blocks((channels + kColumns - 1) / kColumns, kWork * x.numel(), [&](Index tile) {
    f(tile * kColumns, std::min(kColumns, channels - tile * kColumns));
  });
}

/// Sums over positions for each tap and the bias of a tile: blocks of positions in fp32, blocks in
/// double.
class TapSums {
 public:
  explicit TapSums(Index rows)
      : block_(static_cast<std::size_t>(rows * kColumns), 0.F), total_(block_.size(), 0.0) {}
  float* row(Index k) { return block_.data() + k * kColumns; }
  void end_block() {
    for (std::size_t i = 0; i < block_.size(); ++i) {
      total_[i] += static_cast<double>(block_[i]);
    }
    std::ranges::fill(block_, 0.F);
  }
  double total(Index k, Index c) const {
    return total_[static_cast<std::size_t>(k * kColumns + c)];
  }

 private:
  std::vector<float> block_;
  std::vector<double> total_;
};

/// A tile of channels of all samples, backwards.
template <class T>
class ColumnGradients {
 public:
  ColumnGradients(const CausalConvBackward& k, Index begin, Index count)
      : k_(k),
        begin_(begin),
        count_(count),
        taps_(k.weight, k.bias, begin, count),
        starts_(k.starts),
        sums_(taps_.width() + 1),
        before_(static_cast<std::size_t>((k.x.size(0) + taps_.width() - 1) * kColumns), 0.F) {}

  void run() {
    for (Index sample = 0; sample < k_.x.size(1); ++sample) {
      differentiate(sample);
      spread(sample);
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
  float* before(Index i) { return before_.data() + i * kColumns; }

  /// The gradient before the activation at each position, and the taps' sums of it.
  void differentiate(Index sample) {
    const SampleRows<const T> x(k_.x, sample, begin_), dy(k_.dy, sample, begin_);
    const Index s = k_.x.size(0), width = taps_.width();
    for (Index i = 0; i < s; ++i) {
      const Index first = first_tap(taps_, i, starts_(i, sample));
      simd::for_lanes(count_, [&](Index c, auto lanes) {
        const Float sum = convolved(x, taps_, i, first, c, lanes);
        const simd::Sigmoid open = simd::sigmoid(sum);
        const Float slope = simd::fma(sum * open.complement, open.value, open.value);
        const Float gradient = simd::load(dy[i] + c, lanes) * slope;
        simd::store(before(i) + c, gradient, lanes);
        float* bias = sums_.row(width) + c;
        simd::store(bias, simd::load(bias, lanes) + gradient, lanes);
        for (Index tap = first; tap < width; ++tap) {
          float* to = sums_.row(tap) + c;
          const Float value = simd::load(x[i - width + 1 + tap] + c, lanes);
          simd::store(to, simd::fma(gradient, value, simd::load(to, lanes)), lanes);
        }
      });
      if ((i + 1) % kBlock == 0 || i + 1 == s) {
        sums_.end_block();
      }
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
  void spread(Index sample) {
    const SampleRows<T> dx(k_.dx, sample, begin_);
    for (Index i = 0; i < k_.x.size(0); ++i) {
      const Index first = first_tap_back(i, sample);
      simd::for_lanes(count_, [&](Index c, auto lanes) {
        Float sum{};
        for (Index tap = first; tap < taps_.width(); ++tap) {
          sum = simd::fma(simd::load(before(i + taps_.width() - 1 - tap) + c, lanes),
                          simd::load(taps_.row(tap) + c, lanes), sum);
        }
        simd::store(dx[i] + c, sum, lanes);
      });
    }
  }

  const CausalConvBackward& k_;
  Index begin_, count_;
  Taps taps_;
  DocumentStarts starts_;
  TapSums sums_;
  std::vector<float> before_;  // [s + width - 1, columns]; zeros behind the sequence
};

}  // namespace

void run(device::HostStream&, const CausalConvForward& k) {
  const DocumentStarts starts(k.starts);
  visit_dtype(k.x.dtype, [&]<class T>() {
    for_columns(k.x, [&](Index begin, Index count) {
      const Taps taps(k.weight, k.bias, begin, count);
      for (Index sample = 0; sample < k.x.size(1); ++sample) {
        const SampleRows<const T> x(k.x, sample, begin);
        const SampleRows<T> y(k.y, sample, begin);
        for (Index i = 0; i < k.x.size(0); ++i) {
          const Index first = first_tap(taps, i, starts(i, sample));
          simd::for_lanes(count, [&](Index c, auto lanes) {
            const Float sum = convolved(x, taps, i, first, c, lanes);
            simd::store(y[i] + c, sum * simd::sigmoid(sum).value, lanes);
          });
        }
      }
    });
  });
}

void run(device::HostStream&, const CausalConvBackward& k) {
  visit_dtype(k.x.dtype, [&]<class T>() {
    for_columns(k.x, [&](Index begin, Index count) { ColumnGradients<T>(k, begin, count).run(); });
  });
}

}  // namespace mpitron::kernels
