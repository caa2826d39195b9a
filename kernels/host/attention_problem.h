#pragma once
#include <algorithm>

#include "kernels/attention.h"
#include "kernels/host/attention_pack.h"

// What a task of the attention kernels knows: extents, heads, visibility.
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

/// Which keys a query sees: the columns [begin(row), end(row)), less those that the mask hides.
struct Visibility {
  Index s = 0, s_kv = 0;
  bool causal = true;
  Index window = -1;
  const std::uint8_t* mask = nullptr;  // of this sample: [s, s_kv]
  Index mask_stride = 0;

  Index begin(Index row) const {
    return window < 0 ? 0 : std::clamp<Index>(row + s_kv - s - window, 0, s_kv);
  }
  Index end(Index row) const {
    return causal ? std::clamp<Index>(row + s_kv - s + 1, 0, s_kv) : s_kv;
  }
  /// Whether the rows [row, + kRows) see all of the columns [first, last).
  bool all(Index row, Index first, Index last) const {
    return mask == nullptr && last <= end(row) && begin(row + kRows - 1) <= first;
  }
  /// Lanes of the columns [col, + 16) that the row sees.
  Mask16 lanes(Index row, Index col) const {
    auto seen = static_cast<Mask16>(first_lanes(end(row) - col) & ~first_lanes(begin(row) - col));
    if (mask != nullptr && row < s) {
      seen = static_cast<Mask16>(seen & zero_bytes(mask + row * mask_stride + col, s_kv - col));
    }
    return seen;
  }
};

/// What forward and backward have in common.
template <class T>
struct Problem {
  Index s = 0, s_kv = 0, b = 0, n = 0, g = 0, d = 0, dv = 0;
  Heads<const T> q, k, v;
  Index lse_stride_b = 0, lse_stride_n = 0;
  In mask;
  bool causal = true;
  Index window = -1;
  float scale = 1;
  DropoutMask dropout;

  Index lse_offset(Index batch, Index head) const {
    return batch * lse_stride_b + head * lse_stride_n;
  }
  Visibility visibility(Index batch) const {
    Visibility out{s, s_kv, causal, window, nullptr, 0};
    if (mask) {
      out.mask = mask.as<std::uint8_t>() + (mask.size(0) == 1 ? 0 : batch * mask.stride(0));
      out.mask_stride = mask.stride(1);
    }
    return out;
  }
};

template <class T>
struct ForwardProblem : Problem<T> {
  Heads<T> o;
  float* lse = nullptr;
};

template <class T>
struct BackwardProblem : Problem<T> {
  Heads<const T> o, d_o;
  Heads<T> dq, dk, dv_out;
  const float* lse = nullptr;
};

}  // namespace mpitron::kernels::host::attention
