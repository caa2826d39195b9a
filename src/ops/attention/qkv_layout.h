#pragma once
#include "device/tensor_view.h"

namespace mpitron::ops {

/// The fused output of linear_qkv, [s, b, g * ((n/g + 1) * d + dv)]: for each query group its n/g
/// query heads, one key head, one value head (Megatron-Core's order; tensor parallelism cuts whole
/// groups).
struct QkvLayout {
  Index heads = 1;             // n, local
  Index query_groups = 1;      // g, local
  Index head_dim = 1;          // d
  Index value_dim = head_dim;  // dv

  Index queries_per_group() const { return heads / query_groups; }
  Index width() const { return query_groups * group_width(); }

  /// Query heads as [s, b, g, n/g, d]; the single key heads of the groups as [s, b, g, d], their
  /// value heads as [s, b, g, dv].
  template <class View>
  View queries(const View& qkv) const {
    return View(at(qkv, 0), qkv.dtype,
                {qkv.shape[0], qkv.shape[1], query_groups, queries_per_group(), head_dim},
                {qkv.shape[1] * width(), width(), group_width(), head_dim, 1});
  }
  template <class View>
  View keys(const View& qkv) const {
    return per_group(qkv, queries_per_group(), head_dim);
  }
  template <class View>
  View values(const View& qkv) const {
    return per_group(qkv, queries_per_group() + 1, value_dim);
  }
  /// Each group's key and value side by side: [s, b, g, d + dv].
  template <class View>
  View keys_and_values(const View& qkv) const {
    return per_group(qkv, queries_per_group(), head_dim + value_dim);
  }

  /// `count` neighbouring heads of every group from head `first` of the group on, as [s, b*g,
  /// count, d]: batch and group lie one after the other in memory.
  template <class View>
  View heads_of_groups(const View& qkv, Index first, Index count) const {
    return View(at(qkv, first * head_dim), qkv.dtype,
                {qkv.shape[0], qkv.shape[1] * query_groups, count, head_dim},
                {qkv.shape[1] * width(), group_width(), head_dim, 1});
  }

 private:
  Index group_width() const { return (queries_per_group() + 1) * head_dim + value_dim; }
  template <class View>
  static auto* at(const View& qkv, Index offset) {
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(qkv.data)>>,
                                    const char, char>;
    return static_cast<Byte*>(qkv.data) + offset * static_cast<Index>(size_of(qkv.dtype));
  }
  template <class View>
  View per_group(const View& qkv, Index position, Index size) const {
    return View(at(qkv, position * head_dim), qkv.dtype,
                {qkv.shape[0], qkv.shape[1], query_groups, size},
                {qkv.shape[1] * width(), width(), group_width(), 1});
  }
};

}  // namespace mpitron::ops
