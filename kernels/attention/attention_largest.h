#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"
#include "utils/numbers/sequence_map.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;

/// largest[h] = the largest of it and of scale q . k over all samples and all pairs of a query and
/// a key that it sees: what a softmax of head h starts from.
///
/// Numerical contract: q and k fp32, bf16 or fp16 with any strides but a contiguous last dimension;
/// products summed in fp32 (reference: double); largest fp32.
/// The window, the causal order and the mask hide the same pairs as in attention.h; a chunk those
/// of keys before the first position of the query's own chunk.
struct AttentionLargest {
  static constexpr const char* name = "attention_largest";
  In q;           // [s, b, g, n/g, d]
  In k;           // [s_kv, b, g, d]: of whole sequences
  InOut largest;  // [n]
  float scale = 1;
  bool causal = true;
  Index window = -1;         // keys before a query that it sees; -1: all
  SequenceMap queries = {};  // positions of the queries
  Index chunk = 0;           // positions of a chunk; 0: all are one
  In mask = {};              // [b or 1, s or 1, s_kv], u8, 1 = hidden; optional

  template <class F>
  void views(F&& f) const {
    f("q", q), f("k", k), f("largest", largest), f("mask", mask);
  }

  /// The first key that a query at this position may see.
  constexpr Index first_key(Index at) const { return first_key(at, window, chunk); }
  static constexpr Index first_key(Index at, Index window, Index chunk) {
    const Index in_window = window < 0 || at < window ? 0 : at - window;
    const Index in_chunk = chunk > 0 ? at - at % chunk : 0;
    return in_window < in_chunk ? in_chunk : in_window;
  }
};

/// The order of a maximum does not matter: the bits of both devices differ by their products alone.
void run(device::ReferenceStream&, const AttentionLargest&);
void run(device::HostStream&, const AttentionLargest&);
void run(device::CudaStream&, const AttentionLargest&);

}  // namespace mpitron::kernels
