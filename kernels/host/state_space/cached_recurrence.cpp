#include "kernels/state_space/cached_recurrence.h"

#include "kernels/elementwise/softplus.h"
#include "kernels/host/common/fetch_ahead.h"
#include "kernels/host/state_space/conv_steps.h"
#include "kernels/host/state_space/delta_head.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

std::size_t place(Index i) {
  return static_cast<std::size_t>(i);
}

/// f(piece, head) of all heads of all pieces that have rows, on threads; a state of `state` numbers
/// is what a row of a head reads and writes.
template <class F>
void for_pieces(std::span<const CachedPiece> pieces, Index heads, Index state, F&& f) {
  Index rows = 0;
  for (const CachedPiece& piece : pieces) {
    rows += piece.rows;
  }
  for_blocks(static_cast<Index>(pieces.size()) * heads, rows * heads * state, [&](Index task) {
    const CachedPiece& piece = pieces[place(task / heads)];
    if (piece.rows > 0) {
      f(piece, task % heads);
    }
  });
}

/// The state of a head at a place, kept as S; -1: null.
template <class S>
S* state_at(const InOut& states, Index of, Index head) {
  const Index size = states.size(2) * states.size(3);
  return of < 0 ? nullptr : states.as<S>() + of * states.stride(0) + head * size;
}

/// Numbers of a state as they are read again.
template <class S>
Float as_kept(Float x) {
  if constexpr (std::is_same_v<S, float>) {
    return x;
  } else {
    S kept[simd::kLanes];
    simd::store(kept, x);
    return simd::load(kept);
  }
}

/// What stands in front of a piece becomes what it leaves behind; returns that.
template <class S>
S* take_over(const InOut& states, const CachedPiece& piece, Index head) {
  const Index size = states.size(2) * states.size(3);
  S* const own = state_at<S>(states, piece.state_to, head);
  const S* const before = state_at<S>(states, piece.state_from, head);
  if (before == nullptr) {
    std::fill_n(own, size, S(0.F));
  } else if (before != own) {
    std::copy_n(before, size, own);
  }
  return own;
}

constexpr Index kConvTile = 64;  // channels that a thread takes at least

/// x of the w - 1 positions before a piece and of the piece, from channel `begin` on. `zeros` is
/// read where nothing is before it.
template <class T>
class ConvRows {
 public:
  ConvRows(const CachedConv& k, const CachedPiece& piece, Index begin, const T* zeros)
      : states_(k.states),
        piece_(piece),
        rows_(k.x, 0, begin),
        width_(k.weight.size(2)),
        begin_(begin),
        zeros_(zeros) {}
  /// Position i of the piece; from -(w - 1) on.
  const T* operator[](Index i) const {
    return i >= 0                  ? rows_[piece_.first_row + i]
           : piece_.state_from < 0 ? zeros_
                                   : place_of(piece_.state_from, i + width_ - 1);
  }
  /// What the piece leaves of `count` channels. Rows move to the front, the first one first, so
  /// they may be moved within one place.
  void leave(Index count) const {
    for (Index i = 0; i < width_ - 1; ++i) {
      std::copy_n((*this)[piece_.rows - width_ + 1 + i], count, place_of(piece_.state_to, i));
    }
  }

 private:
  T* place_of(Index of, Index i) const {
    return states_.as<T>() + of * states_.stride(0) + i * states_.stride(1) + begin_;
  }

  const InOut& states_;
  const CachedPiece& piece_;
  SampleRows<const T> rows_;
  Index width_, begin_;
  const T* zeros_;
};

template <class T, class Y>
void convolve(const CachedConv& k, const CachedPiece& piece, const Taps& taps, Index begin,
              std::span<const T> zeros) {
  const ConvRows<T> x(k, piece, begin, zeros.data());
  const SampleRows<const T> own(k.x, 0, begin);
  const SampleRows<Y> y(k.y, 0, begin);
  const auto count = static_cast<Index>(zeros.size());
  const Index whole = taps.width() == ConvSteps::kTaps ? ConvSteps::kSteps : piece.rows + 1;
  for (Index i = 0; i < piece.rows;) {
    const bool many = i >= taps.width() - 1 && i + whole <= piece.rows;
    const Index first = piece.first_row + i;
    simd::for_lanes(count, [&](Index c, auto lanes) {
      const auto write = [&](Index row, Float sum) {
        simd::store(y[first + row] + c, sum * simd::sigmoid(sum).value, lanes);
      };
      if (many) {
        const ConvSteps steps(own, taps, first, c, lanes);
#pragma GCC unroll 8
        for (Index row = 0; row < ConvSteps::kSteps; ++row) {
          write(row, steps.sums[row]);
        }
        return;
      }
      Float sum = simd::load(taps.bias() + c, lanes);
      for (Index tap = 0; tap < taps.width(); ++tap) {
        sum = simd::fma(simd::load(x[i - taps.width() + 1 + tap] + c, lanes),
                        simd::load(taps.row(tap) + c, lanes), sum);
      }
      write(0, sum);
    });
    i += many ? ConvSteps::kSteps : 1;
  }
  x.leave(count);
}

/// Rows of a head that pass over its state together, which is read and written once for them.
constexpr int kTogether = 4;

/// What such rows bring in fp32: x and y [kTogether, p], dt b and c [kTogether, n].
struct ScanRows {
  Index n, p;
  std::vector<float> x, y, by, c;
  float keep[kTogether] = {};

  ScanRows(Index n_, Index p_)
      : n(n_), p(p_), x(place(kTogether * p)), y(x), by(place(kTogether * n)), c(by) {}
};

/// V vectors of columns of a state from `at` on: what is left of the one before, which may lie in
/// the same memory, and what each of R rows adds; what a row reads is added up in registers.
template <int R, int V, class S, class Lanes, class Store>
void advance_columns(const S* before, S* state, Index at, ScanRows& rows, Lanes lanes,
                     const Store& store) {
  Float sums[R][V] = {}, x[R][V];
  for (int s = 0; s < R; ++s) {
    for (int v = 0; v < V; ++v) {
      x[s][v] = simd::load(rows.x.data() + s * rows.p + at + v * simd::kLanes, lanes);
    }
  }
  for (Index i = 0; i < rows.n; ++i) {
    const Index first = i * rows.p + at;
    Float values[V];
    for (int v = 0; v < V; ++v) {
      values[v] = simd::load(before + first + v * simd::kLanes, lanes);
    }
    for (int s = 0; s < R; ++s) {
      const Float by = simd::splat(rows.by[place(s * rows.n + i)]);
      const Float read = simd::splat(rows.c[place(s * rows.n + i)]);
      for (int v = 0; v < V; ++v) {
        values[v] = simd::fma(by, x[s][v], values[v] * rows.keep[s]);
        sums[s][v] = simd::fma(read, values[v], sums[s][v]);
        values[v] = as_kept<S>(values[v]);
      }
    }
    for (int v = 0; v < V; ++v) {
      store(state + first + v * simd::kLanes, values[v], lanes);
    }
  }
  for (int s = 0; s < R; ++s) {
    for (int v = 0; v < V; ++v) {
      simd::store(rows.y.data() + s * rows.p + at + v * simd::kLanes, sums[s][v], lanes);
    }
  }
}

template <int R, class S, class Store>
void advance(const S* before, S* state, ScanRows& rows, const Store& store) {
  constexpr int kVectors = R == 1 ? 4 : 2;  // registers for their columns, chains to fill pipelines
  Index at = 0;
  for (; at + kVectors * simd::kLanes <= rows.p; at += kVectors * simd::kLanes) {
    advance_columns<R, kVectors>(before, state, at, rows, simd::Full{}, store);
  }
  for (; at + simd::kLanes <= rows.p; at += simd::kLanes) {
    advance_columns<R, 1>(before, state, at, rows, simd::Full{}, store);
  }
  if (at < rows.p) {
    advance_columns<R, 1>(before, state, at, rows, simd::Part{rows.p - at}, store);
  }
}

/// Whether states go past the caches: those that move to other places and fit no cache. Otherwise
/// each line would be read where it is to be written.
bool streams_states(const CachedScan& k) {
  const Index bytes = k.in.heads() * k.in.state_dim() * k.in.head_dim() *
                      static_cast<Index>(size_of(k.states.dtype));
  const auto address = reinterpret_cast<std::uintptr_t>(k.states.data);
  return static_cast<Index>(k.pieces.size()) * bytes >= kStreamBytes &&
         k.in.head_dim() % simd::kLanes == 0 && address % kStreamAlignment == 0 &&
         k.states.stride(0) % simd::kLanes == 0;
}

/// A piece of one head, whose state is kept as S.
template <class T, class S>
class HeadScan {
 public:
  HeadScan(const CachedScan& k, const CachedPiece& piece, Index head)
      : k_(k),
        piece_(piece),
        n_(k.in.state_dim()),
        p_(k.in.head_dim()),
        x_(k.in.x, 0, head * p_),
        b_(k.in.b, 0, head / k.in.heads_of_group() * n_),
        c_(k.in.c, 0, head / k.in.heads_of_group() * n_),
        dt_(k.in.dt, 0, head),
        y_(k.y, 0, head * p_),
        rate_(-std::exp(number_at(k.in.a_log, head))),
        bias_(number_at(k.in.dt_bias, head)),
        skip_(static_cast<float>(number_at(k.in.d, head))),
        before_(state_at<S>(k.states, piece.state_from, head)),
        own_(before_ == nullptr ? take_over<S>(k.states, piece, head)
                                : state_at<S>(k.states, piece.state_to, head)),
        rows_(n_, p_) {}

  void run() {
    Index i = 0;
    for (; i + kTogether <= piece_.rows; i += kTogether) {
      step<kTogether>(i);
    }
    for (; i < piece_.rows; ++i) {
      step<1>(i);
    }
  }

 private:
  template <int R>
  void step(Index i) {
    read(i, R);
    const S* const from = i == 0 && before_ != nullptr ? before_ : own_;
    with_store(R == piece_.rows && from != own_ && streams_states(k_),
               [&](const auto& store) { advance<R>(from, own_, rows_, store); });
    for (std::size_t j = 0; j < place(R * p_); ++j) {
      rows_.y[j] = std::fma(skip_, rows_.x[j], rows_.y[j]);
    }
    y_.write(piece_.first_row + i, R, p_, rows_.y.data());
  }
  void read(Index i, Index count) {
    const Index at = piece_.first_row + i;
    x_.read(at, count, p_, rows_.x.data());
    b_.read(at, count, n_, rows_.by.data());
    c_.read(at, count, n_, rows_.c.data());
    for (Index s = 0; s < count; ++s) {
      const double step = softplus(as_double(dt_[at + s][0]) + bias_);
      rows_.keep[s] = static_cast<float>(std::exp(step * rate_));
      const auto dt = static_cast<float>(step);
      float* const by = rows_.by.data() + s * n_;
      std::transform(by, by + n_, by, [dt](float b) { return dt * b; });
    }
  }

  const CachedScan& k_;
  const CachedPiece& piece_;
  Index n_, p_;
  SampleRows<const T> x_, b_, c_, dt_;
  SampleRows<T> y_;
  double rate_, bias_;
  float skip_;
  const S* before_;
  S* own_;
  ScanRows rows_;
};

template <class T, class S>
void correct(const CachedDeltaRule& k, const CachedPiece& piece, Index number) {
  DeltaHead<T> head(k.in, 0, number);
  const SampleRows<T> rows(k.o, 0, number * head.values());
  S* const state = take_over<S>(k.states, piece, number);
  std::vector<float> o(place(head.values()));
  for (Index i = 0; i < piece.rows; ++i) {
    head.read(piece.first_row + i);
    head.compare(state);
    head.correct(state, o.data());
    rows.write(piece.first_row + i, 1, head.values(), o.data());
  }
}

}  // namespace

void run(device::HostStream&, const CachedConv& k) {
  const Index channels = k.x.size(2);
  MPITRON_CHECK(k.x.dtype == k.states.dtype, name_of(k.x.dtype), name_of(k.states.dtype));
  visit_dtypes(k.x.dtype, k.y.dtype, [&]<class T, class Y>() {
    for_ranges((channels + kConvTile - 1) / kConvTile, 8 * k.x.numel(),
               [&](Index first, Index last) {
                 const Index begin = first * kConvTile,
                             count = std::min(last * kConvTile, channels) - begin;
                 const Taps taps(k.weight, k.bias, begin, count);
                 const std::vector<T> zeros(place(count), T(0.F));
                 for (const CachedPiece& piece : k.pieces) {
                   if (piece.rows > 0) {
                     convolve<T, Y>(k, piece, taps, begin, std::span<const T>(zeros));
                   }
                 }
               });
  });
}

void run(device::HostStream&, const CachedScan& k) {
  visit_dtypes(k.in.x.dtype, k.states.dtype, [&]<class T, class S>() {
    for_pieces(k.pieces, k.in.heads(), k.in.state_dim() * k.in.head_dim(),
               [&](const CachedPiece& piece, Index head) { HeadScan<T, S>(k, piece, head).run(); });
  });
}

void run(device::HostStream&, const CachedDeltaRule& k) {
  visit_dtypes(k.in.q.dtype, k.states.dtype, [&]<class T, class S>() {
    for_pieces(k.pieces, k.in.value_heads(), k.in.key_dim() * k.in.value_dim(),
               [&](const CachedPiece& piece, Index head) { correct<T, S>(k, piece, head); });
  });
}

}  // namespace mpitron::kernels
