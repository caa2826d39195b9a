#pragma once
#include <algorithm>

#include "kernels/attention/attention_views.h"
#include "kernels/host/attention/attention_pack.h"

// Describes an attention to its tasks: extents, heads, visibility.
namespace mpitron::kernels::host::attention {

/// A strided [s, b, n, d], or [s, b, n / m, m, d], whose last dimension is contiguous.
template <class T>
struct Heads {
  T* data = nullptr;
  Index s = 0;
  Index stride_s = 0, stride_b = 0;
  Index inner = 1;  // m, heads that lie `stride_inner` apart; the groups of them `stride_outer`
  Index stride_outer = 0, stride_inner = 0;

  HeadRows<T> rows(Index b, Index n, Index first = 0) const {
    return {data + first * stride_s + b * stride_b + n / inner * stride_outer +
                n % inner * stride_inner,
            stride_s, s - first};
  }
};

/// Says which of 64 columns the rows of a block see.
struct SeenColumns {
  std::uint64_t rows[kRows];

  /// Returns the bits of the columns [16 n, + 16).
  Mask16 lanes(int m, int n) const { return static_cast<Mask16>(rows[m] >> 16 * n); }
};

/// Says which keys a query sees: the columns [begin(row), end(row)), less those that the mask
/// hides.
struct Visibility {
  Index s = 0, s_kv = 0;
  bool causal = true;
  Index window = -1;
  AttentionPositions positions = last_positions(s, s_kv);
  // Where both are one range, column j is at the position of row i if j = i + diagonal.
  bool ranges = positions.queries.split == 0 && positions.keys.split == 0;
  Index diagonal = positions.queries.offset[1] - positions.keys.offset[1];
  const std::uint8_t* mask = nullptr;        // of this sample: [s, positions of keys]
  Index mask_stride = 0;                     // 0: the same row for all queries
  const std::int64_t* seen_until = nullptr;  // of this sample: [s]

  Index begin(Index row) const { return window < 0 ? 0 : columns_before(row, -window); }
  Index end(Index row) const {
    if (!causal) {
      return s_kv;
    }
    const Index own = columns_before(row, 1);
    // Rows that only fill up the last block see no less than the last query.
    return seen_until == nullptr ? own : std::max(own, columns_until(std::min(row, s - 1)));
  }
  /// Tells whether the rows [row, + kRows) see all of the columns [first, last): then no mask has
  /// to be applied.
  bool all(Index row, Index first, Index last) const {
    return mask == nullptr && last <= end(row) && begin(row + kRows - 1) <= first;
  }
  /// Bit j: the row sees column col + j, of 64.
  std::uint64_t columns(Index row, Index col) const {
    std::uint64_t seen = first_bits(end(row) - col) & ~first_bits(begin(row) - col);
    if (mask != nullptr && row < s) {
      std::uint64_t open = 0;
      for (Index i = 0; i < kCols && col + i < s_kv; i += 16) {
        open |= std::uint64_t{open_lanes(row, col + i)} << i;
      }
      seen &= open;
    }
    return seen;
  }
  /// Lanes of the columns [col, + 16) that the row sees.
  Mask16 lanes(Index row, Index col) const { return static_cast<Mask16>(columns(row, col)); }
  /// `columns` of the rows [row, + kRows). Not inline: few blocks need it, and a block's registers
  /// are all taken.
  [[gnu::noinline]] SeenColumns block(Index row, Index col) const {
    SeenColumns seen;
    for (Index m = 0; m < kRows; ++m) {
      seen.rows[m] = columns(row + m, col);
    }
    return seen;
  }

  /// Ends the keys where all others are hidden, if a mask is the same for all queries: padding
  /// behind the sequences then costs nothing.
  void trim() {
    const auto hidden = [&](Index key) { return mask[positions.keys(key)] != 0; };
    while (s_kv > 0 && hidden(s_kv - 1)) {
      --s_kv;
    }
    bool any = false;
    for (Index key = 0; key < s_kv && !any; ++key) {
      any = hidden(key);
    }
    mask = any ? mask : nullptr;
  }

 private:
  /// Counts the columns up to the position that the row sees in any case.
  Index columns_until(Index row) const {
    const Index position = seen_until[row] + 1;
    const Index columns =
        ranges ? position - positions.keys.offset[1] : positions.keys.count_before(position);
    return std::clamp<Index>(columns, 0, s_kv);
  }
  static std::uint64_t first_bits(Index count) {
    return count <= 0 ? 0 : ~std::uint64_t{0} >> (64 - std::min<Index>(count, 64));
  }
  /// Counts the columns that stand before the position `shift` after that of the row.
  Index columns_before(Index row, Index shift) const {
    const Index columns = ranges ? row + diagonal + shift
                                 : positions.keys.count_before(positions.queries(row) + shift);
    return std::clamp<Index>(columns, 0, s_kv);
  }
  /// Returns which of the columns [col, + 16) the mask leaves open; they may lie across the keys'
  /// split.
  Mask16 open_lanes(Index row, Index col) const {
    const SequenceMap& keys = positions.keys;
    const std::uint8_t* const from = mask + row * mask_stride;
    const Index first = std::min(col < keys.split ? keys.split - col : s_kv, s_kv - col);
    auto open = static_cast<unsigned>(zero_bytes(from + keys(col), first));
    if (first < std::min<Index>(16, s_kv - col)) {
      const Index rest = col + first;
      open |= static_cast<unsigned>(zero_bytes(from + keys(rest), s_kv - rest)) << first;
    }
    return static_cast<Mask16>(open);
  }
};

/// Arguments that forward and backward have in common.
template <class T>
struct Problem {
  Index s = 0, s_kv = 0, b = 0, n = 0, g = 0, d = 0, dv = 0;
  Heads<const T> q, k, v;
  Index lse_stride_b = 0, lse_stride_n = 0;
  In mask, bias, seen_until;
  bool causal = true;
  Index window = -1;
  float scale = 1, softcap = 0;
  DropoutMask dropout;
  AttentionPositions positions;

  Index lse_offset(Index batch, Index head) const {
    return batch * lse_stride_b + head * lse_stride_n;
  }
  Visibility visibility(Index batch) const {
    Visibility out{s, s_kv, causal, window, positions};
    if (seen_until) {
      out.seen_until = seen_until.as<std::int64_t>() +
                       (seen_until.size(0) == 1 ? 0 : batch * seen_until.stride(0));
    }
    if (mask) {
      out.mask = mask.as<std::uint8_t>() + (mask.size(0) == 1 ? 0 : batch * mask.stride(0));
      out.mask_stride = mask.size(1) == 1 ? 0 : mask.stride(1);
      if (mask.size(1) == 1) {
        out.trim();
      }
    }
    return out;
  }
};

template <class T, class View>
auto heads_of(const View& view) {
  MPITRON_CHECK(view.stride(-1) == 1 || view.size(-1) == 1, view.stride(-1));
  auto* data = view.template as<T>();
  const bool split = view.shape.rank() == 5;
  return Heads<std::remove_pointer_t<decltype(data)>>{
      data,           view.size(0),  view.stride(0), view.stride(1), split ? view.size(3) : 1,
      view.stride(2), view.stride(3)};
}

/// Heads of an output, in the type of the inputs or in fp32 (where parts are merged later).
template <class T>
struct OutputHeads {
  Heads<T> own;
  Heads<float> wide;

  /// f(rows) with the head's rows, HeadRows of T or float.
  template <class F>
  void with_rows(Index b, Index n, Index first, F&& f) const {
    if (wide.data != nullptr) {
      f(wide.rows(b, n, first));
    } else {
      f(own.rows(b, n, first));
    }
  }
};

template <class T>
OutputHeads<T> output_heads_of(const Out& view) {
  if (view.dtype == dtype_of<T>()) {
    return {heads_of<T>(view), {}};
  }
  MPITRON_CHECK(view.dtype == DType::f32, name_of(view.dtype));
  return {{}, heads_of<float>(view)};
}

template <class T>
struct ForwardProblem : Problem<T> {
  OutputHeads<T> o;
  float* lse = nullptr;
};

template <class T>
struct BackwardProblem : Problem<T> {
  Heads<const T> o, d_o;
  OutputHeads<T> dq, dk, dv_out;
  const float* lse = nullptr;
  Out dbias;
};

template <class T, class Kernel>
void fill(Problem<T>& problem, const Kernel& kernel) {
  check_views(kernel);
  const Shape q = merged(kernel.q.shape), v = merged(kernel.v.shape);
  problem.s = q[0];
  problem.s_kv = v[0];
  problem.b = q[1];
  problem.n = q[2];
  problem.g = v[2];
  problem.d = q[3];
  problem.dv = v[3];
  problem.q = heads_of<T>(kernel.q);
  problem.k = heads_of<T>(kernel.k);
  problem.v = heads_of<T>(kernel.v);
  problem.lse_stride_b = kernel.lse.stride(0);
  problem.lse_stride_n = kernel.lse.stride(1);
  problem.mask = kernel.mask;
  problem.bias = kernel.bias;
  problem.seen_until = kernel.seen_until;
  problem.causal = kernel.causal;
  problem.window = kernel.window;
  problem.scale = kernel.scale;
  problem.softcap = kernel.softcap;
  problem.dropout = kernel.dropout;
  problem.positions = positions_of(kernel);
}

/// Makes a problem from the arguments of its kernel.
template <class T>
ForwardProblem<T> problem_of(const AttentionForward& kernel) {
  ForwardProblem<T> problem;
  fill(problem, kernel);
  problem.o = output_heads_of<T>(kernel.o);
  problem.lse = kernel.lse.template as<float>();
  return problem;
}

template <class T>
BackwardProblem<T> problem_of(const AttentionBackward& kernel) {
  BackwardProblem<T> problem;
  fill(problem, kernel);
  problem.o = heads_of<T>(kernel.o);
  problem.d_o = heads_of<T>(kernel.d_o);
  problem.dq = output_heads_of<T>(kernel.dq);
  problem.dk = output_heads_of<T>(kernel.dk);
  problem.dv_out = output_heads_of<T>(kernel.dv);
  problem.dbias = kernel.dbias;
  problem.lse = kernel.lse.template as<float>();
  return problem;
}

}  // namespace mpitron::kernels::host::attention
