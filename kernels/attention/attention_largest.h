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
/// The window and the causal order hide the same pairs as in attention.h.
struct AttentionLargest {
  static constexpr const char* name = "attention_largest";
  In q;           // [s, b, g, n/g, d]
  In k;           // [s_kv, b, g, d]: of whole sequences
  InOut largest;  // [n]
  float scale = 1;
  bool causal = true;
  Index window = -1;         // keys before a query that it sees; -1: all
  SequenceMap queries = {};  // positions of the queries

  template <class F>
  void views(F&& f) const {
    f("q", q), f("k", k), f("largest", largest);
  }
};

/// The order of a maximum does not matter: the bits of both devices differ by their products alone.
void run(device::ReferenceStream&, const AttentionLargest&);
void run(device::HostStream&, const AttentionLargest&);
void run(device::CudaStream&, const AttentionLargest&);

}  // namespace mpitron::kernels
