// Numerical contract: that of expert_visits.h; the order of atomics does not matter, since
// they count integers.
#include <bit>

#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/common/vector.cuh"
#include "kernels/experts/expert_visits.h"
#include "kernels/experts/router.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// Counts visits in shared memory first, so that blocks meet in one atomic for each expert.
__global__ void count_visits(const std::int64_t* experts, Index visits, unsigned long long* counts,
                             Index n) {
  __shared__ unsigned own[kMostExperts];
  for (Index e = threadIdx.x; e < n; e += blockDim.x) {
    own[e] = 0;
  }
  __syncthreads();
  for (Index i = thread_of_grid().index; i < visits; i += thread_of_grid().count) {
    atomicAdd(own + experts[i], 1U);
  }
  __syncthreads();
  for (Index e = threadIdx.x; e < n; e += blockDim.x) {
    if (own[e] > 0) {
      atomicAdd(counts + e, static_cast<unsigned long long>(own[e]));
    }
  }
}

/// Arguments of an order of visits, in the types of the launch.
struct Order {
  const std::int64_t* experts;  // [t, k]
  const void* probabilities;    // [t, k]
  bool wide;                    // fp64 probabilities
  const std::int64_t* counts;   // [E]
  std::int64_t *rows, *slots;   // [n]
  Index t, k;
  ExpertCapacity capacity;
};

/// Maps a probability to an integer that rises with it, so that thresholds can be searched bit by
/// bit.
__device__ unsigned long long rank_of(const Order& a, Index slot) {
  constexpr unsigned long long kSign = 1ULL << 63;
  const double value = a.wide ? static_cast<const double*>(a.probabilities)[slot]
                              : static_cast<const float*>(a.probabilities)[slot];
  const auto bits = std::bit_cast<unsigned long long>(value);
  return bits & kSign ? ~bits : bits | kSign;
}

__device__ Index taken_of(const ExpertCapacity& capacity, Index count) {
  return capacity.tokens < 0                       ? count
         : capacity.pad || count > capacity.tokens ? capacity.tokens
                                                   : count;
}

/// Returns the slot by which a token visits the expert, or -1.
__device__ Index slot_of(const Order& a, Index token, Index expert) {
  for (Index slot = token * a.k; slot < (token + 1) * a.k; ++slot) {
    if (a.experts[slot] == expert) {
      return slot;
    }
  }
  return -1;
}

/// Says which tokens an expert takes: those of `always`, and the first `most` of `sometimes`.
struct Choice {
  unsigned long long threshold = 0;  // visits above it are `always`, those at it `sometimes`
  bool fills = false;                // else tokens that do not visit are `sometimes`
  Index most = 0;
};

struct Class {
  bool always, sometimes;
};

/// Tells the class of a token: visits above the threshold are always taken, those at it (or tokens
/// that do not visit, where places are filled up) in order until there are enough.
__device__ Class class_of(const Order& a, const Choice& choice, Index slot) {
  if (slot < 0) {
    return {false, choice.fills};
  }
  if (choice.fills) {
    return {true, false};
  }
  const bool by_probability = a.capacity.drop == DropPolicy::lowest_probability;
  const unsigned long long rank = by_probability ? rank_of(a, slot) : choice.threshold;
  return {rank > choice.threshold, rank == choice.threshold};
}

/// Counts the expert's visits of at least this rank; the same in every thread.
__device__ Index visits_from(const Order& a, Index expert, unsigned long long rank,
                             Index* partial) {
  Index own = 0;
  for (Index token = threadIdx.x; token < a.t; token += blockDim.x) {
    const Index slot = slot_of(a, token, expert);
    own += slot >= 0 && rank_of(a, slot) >= rank ? 1 : 0;
  }
  return block_sum(own, partial);
}

/// Makes the choice of an expert with `count` visits of which it takes `taken`.
__device__ Choice choose(const Order& a, Index expert, Index count, Index taken, Index* partial) {
  if (taken >= count) {
    return {.fills = true, .most = taken - count};
  }
  if (a.capacity.drop == DropPolicy::last_position || taken == 0) {
    return {.threshold = ~0ULL, .most = taken};
  }
  // The rank of the last visit that is taken, bit by bit: the largest that `taken` visits have.
  unsigned long long threshold = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const unsigned long long wanted = threshold | 1ULL << bit;
    if (visits_from(a, expert, wanted, partial) >= taken) {
      threshold = wanted;
    }
  }
  return {.threshold = threshold, .most = taken - visits_from(a, expert, threshold + 1, partial)};
}

/// Orders the visits of one expert by one block: chunks of tokens in order, whose threads find
/// their place by a prefix sum, so the result does not depend on timing.
__global__ void order_visits(const __grid_constant__ Order a) {
  __shared__ Index partial[kMostWarps];
  const Index expert = blockIdx.x;
  Index before = 0;
  for (Index other = threadIdx.x; other < expert; other += blockDim.x) {
    before += taken_of(a.capacity, a.counts[other]);
  }
  before = block_sum(before, partial);
  const Index count = a.counts[expert], taken = taken_of(a.capacity, count);
  const Choice choice = choose(a, expert, count, taken, partial);

  constexpr Index kTokens = 4;  // of a thread, one after another
  // Counts of both classes, side by side in 32 bits each.
  constexpr Index kAlways = Index{1} << 32, kSometimes = 1;
  Index always = 0, sometimes = 0;
  for (Index first = 0; first < a.t; first += kTokens * blockDim.x) {
    Index slots[kTokens];
    Class classes[kTokens];
    Index own = 0;
    for (Index i = 0; i < kTokens; ++i) {
      const Index token = first + threadIdx.x * kTokens + i;
      slots[i] = token < a.t ? slot_of(a, token, expert) : -1;
      classes[i] = token < a.t ? class_of(a, choice, slots[i]) : Class{false, false};
      own += (classes[i].always ? kAlways : 0) + (classes[i].sometimes ? kSometimes : 0);
    }
    const Scanned<Index> sum = block_scan(own, partial);
    Index my_always = always + (sum.before >> 32);
    Index my_sometimes = sometimes + (sum.before & (kAlways - 1));
    for (Index i = 0; i < kTokens; ++i) {
      if (classes[i].always || (classes[i].sometimes && my_sometimes < choice.most)) {
        const Index place = before + my_always + min(my_sometimes, choice.most);
        a.rows[place] = first + threadIdx.x * kTokens + i;
        a.slots[place] = slots[i];
      }
      my_always += classes[i].always ? 1 : 0;
      my_sometimes += classes[i].sometimes ? 1 : 0;
    }
    always += sum.total >> 32;
    sometimes += sum.total & (kAlways - 1);
  }
}

}  // namespace

void run(device::CudaStream& stream, const CountVisits& k) {
  const Index n = k.counts.numel();
  MPITRON_CHECK(n <= kMostExperts, n);
  auto* counts = static_cast<unsigned long long*>(k.counts.data);
  device::check(
      cudaMemsetAsync(counts, 0, static_cast<std::size_t>(n) * sizeof(*counts), stream.handle),
      k.name);
  launch(stream, k.name, flat_shape(k.experts.numel()), count_visits, k.experts.as<std::int64_t>(),
         k.experts.numel(), counts, n);
}

void run(device::CudaStream& stream, const OrderVisits& k) {
  if (k.rows.numel() == 0) {
    return;
  }
  launch(
      stream, k.name, {static_cast<unsigned>(k.counts.numel()), kThreads}, order_visits,
      Order{k.experts.as<std::int64_t>(), k.probabilities.data, k.probabilities.dtype == DType::f64,
            k.counts.as<std::int64_t>(), k.rows.as<std::int64_t>(), k.slots.as<std::int64_t>(),
            k.experts.size(0), k.experts.size(1), k.capacity});
}

}  // namespace mpitron::kernels
