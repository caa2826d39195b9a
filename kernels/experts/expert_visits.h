#pragma once
#include <cmath>

#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

/// counts[e] = how many of `experts` are e.
struct CountVisits {
  static constexpr const char* name = "count_visits";
  In experts;  // [t, k], i64
  Out counts;  // [E], i64

  template <class F>
  void views(F&& f) const {
    f("experts", experts), f("counts", counts);
  }
};

enum class DropPolicy { lowest_probability, last_position };

/// ceil(visits / experts * factor): what an expert takes of `visits` at a
/// --moe-expert-capacity-factor.
inline Index expert_capacity(Index visits, Index experts, double factor) {
  const double even = static_cast<double>(visits) / static_cast<double>(experts);
  return static_cast<Index>(std::ceil(even * factor));
}

/// How many tokens an expert takes. Beyond it, visits are dropped: those of the lowest probability
/// (of equal ones the later tokens'), or the later tokens'.
struct ExpertCapacity {
  Index tokens = -1;  // negative: no limit
  bool pad = false;   // exactly so many: the first tokens that do not visit the expert fill it up
  DropPolicy drop = DropPolicy::lowest_probability;

  /// Whether every expert gets `tokens` whoever visits it.
  bool fixed() const { return tokens >= 0 && pad; }
  /// How many of `count` visits an expert gets.
  Index of(Index count) const {
    return tokens < 0 ? count : pad || count > tokens ? tokens : count;
  }
};

/// Orders the visits by expert, and those of an expert by token: visit i is that of token rows[i]
/// with probability number slots[i] of the flat [t, k], or -1 where it fills an expert up.
///
/// Numerical contract: integers; the capacity is at most t where it pads.
struct OrderVisits {
  static constexpr const char* name = "order_visits";
  In experts;        // [t, k], i64
  In probabilities;  // [t, k], fp32 or fp64; read with a capacity
  In counts;         // [E], i64: of CountVisits
  Out rows;          // [n], i64; n = the sum of capacity.of(counts[e])
  Out slots;         // [n], i64
  Out workspace;
  ExpertCapacity capacity;

  template <class F>
  void views(F&& f) const {
    f("experts", experts), f("rows", rows), f("slots", slots);
  }
};

void run(device::ReferenceStream&, const CountVisits&);
void run(device::ReferenceStream&, const OrderVisits&);
void run(device::HostStream&, const CountVisits&);
void run(device::HostStream&, const OrderVisits&);
void run(device::CudaStream&, const CountVisits&);
void run(device::CudaStream&, const OrderVisits&);
/// Visits spread evenly: where nothing runs, later tensors have the sizes of a balanced routing.
void run(device::NullStream&, const CountVisits&);
Index workspace_bytes(const device::HostStream&, const OrderVisits&);

}  // namespace mpitron::kernels
