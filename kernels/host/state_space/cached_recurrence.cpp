#include "kernels/state_space/cached_recurrence.h"

#include "kernels/elementwise/softplus.h"
#include "kernels/host/state_space/conv_taps.h"
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

/// The state of a head at a place; -1: null.
float* state_at(const InOut& states, Index of, Index head) {
  const Index size = states.size(2) * states.size(3);
  return of < 0 ? nullptr : states.as<float>() + of * states.stride(0) + head * size;
}

/// What stands in front of a piece becomes what it leaves behind; returns that.
float* take_over(const InOut& states, const CachedPiece& piece, Index head) {
  const Index size = states.size(2) * states.size(3);
  float* const own = state_at(states, piece.state_to, head);
  const float* const before = state_at(states, piece.state_from, head);
  if (before == nullptr) {
    std::fill_n(own, size, 0.F);
  } else if (before != own) {
    std::copy_n(before, size, own);
  }
  return own;
}

constexpr Index kConvTile = 64;  // channels of a task

/// x of the w - 1 positions before a piece and of the piece, in a tile of channels.
template <class T>
class ConvRows {
 public:
  ConvRows(const CachedConv& k, const CachedPiece& piece, Index begin, Index count)
      : rows_(k.x, 0, begin), first_(piece.first_row), width_(k.weight.size(2)), count_(count) {
    before_.assign(place((width_ - 1) * kConvTile), T(0.F));
    for (Index i = 0; piece.state_from >= 0 && i < width_ - 1; ++i) {
      std::copy_n(place_of(k.states, piece.state_from, i, begin), count_,
                  before_.data() + i * kConvTile);
    }
  }
  /// Position i of the piece; from -(w - 1) on.
  const T* operator[](Index i) const {
    return i < 0 ? before_.data() + (i + width_ - 1) * kConvTile : rows_[first_ + i];
  }
  /// What a piece of `rows` leaves.
  void leave(const CachedConv& k, const CachedPiece& piece, Index begin) const {
    for (Index i = 0; i < width_ - 1; ++i) {
      std::copy_n((*this)[piece.rows - width_ + 1 + i], count_,
                  place_of(k.states, piece.state_to, i, begin));
    }
  }

 private:
  static T* place_of(const InOut& states, Index of, Index i, Index begin) {
    return states.as<T>() + of * states.stride(0) + i * states.stride(1) + begin;
  }

  SampleRows<const T> rows_;
  Index first_, width_, count_;
  std::vector<T> before_;
};

template <class T>
void convolve(const CachedConv& k, const CachedPiece& piece, const Taps& taps, Index begin,
              Index count) {
  const ConvRows<T> x(k, piece, begin, count);
  const SampleRows<T> y(k.y, 0, begin);
  for (Index i = 0; i < piece.rows; ++i) {
    simd::for_lanes(count, [&](Index c, auto lanes) {
      Float sum = simd::load(taps.bias() + c, lanes);
      for (Index tap = 0; tap < taps.width(); ++tap) {
        sum = simd::fma(simd::load(x[i - taps.width() + 1 + tap] + c, lanes),
                        simd::load(taps.row(tap) + c, lanes), sum);
      }
      simd::store(y[piece.first_row + i] + c, sum * simd::sigmoid(sum).value, lanes);
    });
  }
  x.leave(k, piece, begin);
}

/// What a row of one head brings: x and y [p], b and c [n], in fp32.
struct ScanRow {
  std::vector<float> x, y, b, c;
  float keep = 0, dt = 0;

  ScanRow(Index n, Index p) : x(place(p)), y(x), b(place(n)), c(b) {}
};

/// kCount columns of a state from `at` on: what is left of the one before, which may lie in the
/// same memory, and what the row adds; what it reads is added up in registers.
template <Index kCount>
void advance_columns(const float* before, float* state, Index at, ScanRow& row) {
  const auto p = static_cast<Index>(row.x.size());
  float sums[kCount] = {};
  float added[kCount], values[kCount];
  std::copy_n(row.x.data() + at, kCount, added);
  for (std::size_t i = 0; i < row.b.size(); ++i) {
    const Index first = static_cast<Index>(i) * p + at;
    const float by = row.dt * row.b[i], read = row.c[i];
    for (Index j = 0; j < kCount; ++j) {
      values[j] = row.keep * before[first + j] + by * added[j];
      sums[j] += read * values[j];
    }
    std::copy_n(values, kCount, state + first);
  }
  std::copy_n(sums, kCount, row.y.data() + at);
}

void advance(const float* before, float* state, ScanRow& row) {
  const auto p = static_cast<Index>(row.x.size());
  Index at = 0;
  for (; at + 64 <= p; at += 64) {
    advance_columns<64>(before, state, at, row);
  }
  for (; at + 16 <= p; at += 16) {
    advance_columns<16>(before, state, at, row);
  }
  for (; at < p; ++at) {
    advance_columns<1>(before, state, at, row);
  }
}

template <class T>
void scan(const CachedScan& k, const CachedPiece& piece, Index head) {
  const Index n = k.in.state_dim(), p = k.in.head_dim(), group = head / k.in.heads_of_group();
  const SampleRows<const T> x(k.in.x, 0, head * p), b(k.in.b, 0, group * n);
  const SampleRows<const T> c(k.in.c, 0, group * n), dt(k.in.dt, 0, head);
  const SampleRows<T> y(k.y, 0, head * p);
  const double rate = -std::exp(number_at(k.in.a_log, head));
  const double bias = number_at(k.in.dt_bias, head);
  const auto skip = static_cast<float>(number_at(k.in.d, head));
  const float* before = state_at(k.states, piece.state_from, head);
  float* const own = before == nullptr ? take_over(k.states, piece, head)
                                       : state_at(k.states, piece.state_to, head);
  ScanRow row(n, p);
  for (Index i = 0; i < piece.rows; ++i) {
    const Index at = piece.first_row + i;
    x.read(at, 1, p, row.x.data()), b.read(at, 1, n, row.b.data()), c.read(at, 1, n, row.c.data());
    const double step = softplus(as_double(dt[at][0]) + bias);
    row.dt = static_cast<float>(step), row.keep = static_cast<float>(std::exp(step * rate));
    advance(i == 0 && before != nullptr ? before : own, own, row);
    for (std::size_t j = 0; j < row.y.size(); ++j) {
      row.y[j] += skip * row.x[j];
    }
    y.write(at, 1, p, row.y.data());
  }
}

template <class T>
void correct(const CachedDeltaRule& k, const CachedPiece& piece, Index number) {
  DeltaHead<T> head(k.in, 0, number);
  const SampleRows<T> rows(k.o, 0, number * head.values());
  float* const state = take_over(k.states, piece, number);
  std::vector<float> o(place(head.values()));
  for (Index i = 0; i < piece.rows; ++i) {
    head.read(piece.first_row + i);
    head.fade(state);
    head.correct(state);
    head.output(state, o.data());
    rows.write(piece.first_row + i, 1, head.values(), o.data());
  }
}

}  // namespace

void run(device::HostStream&, const CachedConv& k) {
  const Index channels = k.x.size(2), width = kConvTile;
  visit_dtype(k.x.dtype, [&]<class T>() {
    for_blocks((channels + width - 1) / width, 8 * k.x.numel(), [&](Index tile) {
      const Index begin = tile * width, count = std::min(width, channels - begin);
      const Taps taps(k.weight, k.bias, begin, count);
      for (const CachedPiece& piece : k.pieces) {
        if (piece.rows > 0) {
          convolve<T>(k, piece, taps, begin, count);
        }
      }
    });
  });
}

void run(device::HostStream&, const CachedScan& k) {
  visit_dtype(k.in.x.dtype, [&]<class T>() {
    for_pieces(k.pieces, k.in.heads(), k.in.state_dim() * k.in.head_dim(),
               [&](const CachedPiece& piece, Index head) { scan<T>(k, piece, head); });
  });
}

void run(device::HostStream&, const CachedDeltaRule& k) {
  visit_dtype(k.in.q.dtype, [&]<class T>() {
    for_pieces(k.pieces, k.in.value_heads(), k.in.key_dim() * k.in.value_dim(),
               [&](const CachedPiece& piece, Index head) { correct<T>(k, piece, head); });
  });
}

}  // namespace mpitron::kernels
