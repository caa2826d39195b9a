#pragma once
#include <optional>

#include "kernels/elementwise/dropout.h"

namespace mpitron::kernels {

// Softmax attention that never stores [s, s] of a head: tiled, online softmax (Dao et al. 2022),
// forward and backward.
//
// q, o and their gradients are [s, b, n, d], or [s, b, g, n/g, d] where the heads of a fused
// qkv are not evenly spaced.
//
// Numerical contract
//   types:        q, k, v, o and their gradients fp32, bf16, fp16 (reference: also fp64), all the
//                 same; o of forward and dq, dk, dv may be fp32 (reference: of any type) besides,
//                 to be summed over blocks; lse natural log, fp32; any strides but a contiguous
//                 last dimension
//   accumulation: fp32 in a fixed order (reference: double): the bits do not depend on the number
//                 of threads
//   rounding:     bf16, fp16: P and dS before they enter a product; o, dq, dk, dv once at the end
//   visibility:   with positions Q(i) of queries and K(j) of keys, key j is visible to query i if
//                 !(causal && K(j) > max(Q(i), seen_until[., i])) and
//                 !(window >= 0 && K(j) < Q(i) - window) and mask[., i, K(j)] == 0; a row that sees
//                 no key gives o = 0, lse = -inf and no gradient; a mask of one row hides keys from
//                 every query; seen_until never falls from a query to the next (not on GPUs)
//   soft cap:     with softcap > 0, scale q_i k_j becomes softcap tanh(scale q_i k_j / softcap);
//                 not together with a bias
//   bias:         score(i, j) = scale q_i k_j + bias[head, j - i + s - 1]: a bias of the distance,
//                 the same for all samples; not together with positions
//   dropout:      on the probabilities after the softmax: attention_dropout_keeps below is the
//                 definition; rows are global sequence positions, columns are positions K(j)
//   blocks:       a whole attention is the merge (attention_merge.h) of its parts over
//                 some of the keys; backward is given the whole's o and lse, and its dq is the sum
//                 over the parts
//   outputs:      all `=`; dbias is summed over the queries of a sample, in their order within
//                 tiles, and left apart for each sample

/// Returns the Philox call that serves the probability of a query at global sequence position
/// `row`, of a head and sample, and of a key at position `column`: one serves 2 rows x 4 columns.
constexpr Philox::Counter attention_dropout_counter(Index row, Index column, Index head,
                                                    Index sample) {
  return {static_cast<std::uint32_t>(column / 64 * 16 + column % 16),
          static_cast<std::uint32_t>(row / 2), static_cast<std::uint32_t>(head),
          static_cast<std::uint32_t>(sample)};
}

/// Whether the probability is kept, by the bits of its call.
constexpr bool attention_dropout_keeps(const DropoutMask& mask, const Philox::Counter& bits,
                                       Index row, Index column) {
  const std::uint32_t word = bits[static_cast<std::size_t>(column / 16 % 4)];
  return (row % 2 == 0 ? word & 0xffffu : word >> 16) >= mask.threshold;
}

/// The definition of the mask of probabilities.
constexpr bool attention_dropout_keeps(const DropoutMask& mask, Index row, Index column, Index head,
                                       Index sample) {
  const auto counter = attention_dropout_counter(row, column, head, sample);
  return attention_dropout_keeps(mask, Philox::generate(counter, mask.key), row, column);
}

/// Positions of queries and keys in one sequence: some of its positions each, in rising order.
struct AttentionPositions {
  SequenceMap queries, keys;
};

/// The positions where none are given: all keys of a sequence, and its last queries.
inline AttentionPositions last_positions(Index s, Index s_kv) {
  return {.queries = {.split = 0, .offset = {0, s_kv - s}}, .keys = {}};
}

/// Counts the multiply-adds of scores and weighed values, keys as wide as values; a causal mask
/// hides half of the keys.
inline double attention_multiply_adds(const In& q, const In& k, bool causal) {
  return (causal ? 1 : 2) * static_cast<double>(q.numel()) * static_cast<double>(k.size(0));
}

struct AttentionForward {
  static constexpr const char* name = "attention_forward";
  In q;     // [s, b, n, d]
  In k;     // [s_kv, b, g, d]; query head i reads group i / (n / g)
  In v;     // [s_kv, b, g, dv]
  In mask;  // [b or 1, s or 1, positions of keys], u8, 1 = hidden; optional
  Out o;    // [s, b, n, dv]
  Out lse;  // [b, n, s], fp32
  Out workspace;
  float scale = 1;
  bool causal = true;
  Index window = -1;  // keys before the query that are visible besides itself; -1: all
  DropoutMask dropout;
  std::optional<AttentionPositions> positions;  // absent: last_positions
  In bias;             // [n, s + s_kv - 1], in q's type, any strides; optional
  float softcap = 0;   // bound of the scores; 0: none
  In seen_until = {};  // [b or 1, s], i64, contiguous: a position; optional

  template <class F>
  void views(F&& f) const {
    f("q", q), f("k", k), f("v", v), f("mask", mask), f("o", o), f("lse", lse), f("bias", bias);
    f("seen_until", seen_until);
  }
  /// Multiply-adds of one launch, for who times it.
  double multiply_adds() const { return attention_multiply_adds(q, k, causal); }
};

struct AttentionBackward {
  static constexpr const char* name = "attention_backward";
  In q, k, v, mask, o, lse;  // as forward
  In d_o;                    // [s, b, n, dv]
  Out dq;                    // [s, b, n, d]
  Out dk;                    // [s_kv, b, g, d]
  Out dv;                    // [s_kv, b, g, dv]
  Out workspace;
  float scale = 1;
  bool causal = true;
  Index window = -1;
  DropoutMask dropout;
  std::optional<AttentionPositions> positions;  // absent: last_positions
  In bias;                                      // as forward
  Out dbias;  // [b, n, s + s_kv - 1], fp32, any strides; where there is a bias
  float softcap = 0;
  In seen_until = {};

  template <class F>
  void views(F&& f) const {
    f("q", q), f("k", k), f("v", v), f("mask", mask), f("o", o), f("lse", lse), f("d_o", d_o);
    f("seen_until", seen_until);
    f("dq", dq), f("dk", dk), f("dv", dv), f("bias", bias), f("dbias", dbias);
  }
  double multiply_adds() const { return 2.5 * attention_multiply_adds(q, k, causal); }
};

void run(device::ReferenceStream&, const AttentionForward&);
void run(device::ReferenceStream&, const AttentionBackward&);
void run(device::HostStream&, const AttentionForward&);
void run(device::HostStream&, const AttentionBackward&);
void run(device::CudaStream&, const AttentionForward&);
void run(device::CudaStream&, const AttentionBackward&);
Index workspace_bytes(const device::HostStream&, const AttentionForward&);
Index workspace_bytes(const device::HostStream&, const AttentionBackward&);
Index workspace_bytes(const device::CudaStream&, const AttentionForward&);
Index workspace_bytes(const device::CudaStream&, const AttentionBackward&);

}  // namespace mpitron::kernels
