// Orders the visits of tokens to experts on the host by a counting sort: tokens stay ascending
// within an expert, so bits do not depend on threads. Where an expert has a capacity, some visits
// are dropped or places are filled up.
#include "kernels/experts/expert_visits.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "utils/check.h"

namespace mpitron::kernels {
namespace {

/// Slots (token * topk + choice) of the visits to each expert, tokens ascending: those of expert e
/// begin at starts[e].
struct SlotsByExpert {
  std::int64_t* starts;  // [E + 1]
  std::int64_t* slots;   // [t k]
};

/// Sorts the slots by expert. Each expert's start serves as its cursor and ends at the next one's
/// start, so the starts are moved back by one place.
SlotsByExpert sort_slots(const OrderVisits& k) {
  const Index experts = k.counts.numel();
  const auto* counts = k.counts.as<std::int64_t>();
  const auto* expert = k.experts.as<std::int64_t>();
  auto* starts = static_cast<std::int64_t*>(k.workspace.data);
  const SlotsByExpert sorted{starts, starts + experts + 1};
  starts[0] = 0;
  std::partial_sum(counts, counts + experts, starts + 1);
  for (Index slot = 0; slot < k.experts.numel(); ++slot) {
    sorted.slots[starts[expert[slot]]++] = slot;
  }
  std::copy_backward(starts, starts + experts, starts + experts + 1);
  starts[0] = 0;
  return sorted;
}

/// Moves the slots that the expert keeps to the front, in the order of tokens. Of equally probable
/// ones the first tokens stay.
void keep(const OrderVisits& k, std::int64_t* slots, Index count, Index taken) {
  if (k.capacity.drop == DropPolicy::last_position) {
    return;
  }
  const auto by_probability = [&]<class T>(const T* p) {
    std::nth_element(slots, slots + taken, slots + count, [p](std::int64_t a, std::int64_t b) {
      return p[a] > p[b] || (p[a] == p[b] && a < b);
    });
  };
  if (k.probabilities.dtype == DType::f64) {
    by_probability(k.probabilities.as<double>());
  } else {
    by_probability(k.probabilities.as<float>());
  }
  std::sort(slots, slots + taken);
}

/// Arrays where the visits of one expert are written.
struct Visits {
  std::int64_t* rows;
  std::int64_t* slots;
};

/// Writes the kept slots, and as `fill` more visits the first tokens that are not among the
/// visitors, in the order of tokens; slot -1 marks those, whose probability is 0.
void write_visits(const OrderVisits& k, std::span<const std::int64_t> kept, Index fill,
                  const Visits& to) {
  const Index topk = k.experts.size(1);
  Index next = 0, token = 0;
  const auto fill_before = [&](Index end) {
    for (; token < end && fill > 0; ++token, --fill, ++next) {
      to.rows[next] = token;
      to.slots[next] = -1;
    }
  };
  for (const std::int64_t slot : kept) {
    fill_before(slot / topk);
    token = slot / topk + 1;
    to.rows[next] = slot / topk;
    to.slots[next++] = slot;
  }
  fill_before(k.experts.size(0));
}

}  // namespace

void run(device::HostStream&, const CountVisits& k) {
  auto* counts = k.counts.as<std::int64_t>();
  std::fill_n(counts, k.counts.numel(), 0);
  const auto* experts = k.experts.as<std::int64_t>();
  std::for_each(experts, experts + k.experts.numel(), [counts](auto e) { ++counts[e]; });
}

/// Shares the visits out evenly where nothing is computed, so that a run without devices has the
/// sizes of a balanced one.
void run(device::NullStream&, const CountVisits& k) {
  auto* counts = k.counts.as<std::int64_t>();
  const Index visits = k.experts.numel(), experts = k.counts.numel();
  for (Index expert = 0; expert < experts; ++expert) {
    counts[expert] = visits / experts + (expert < visits % experts ? 1 : 0);
  }
}

Index workspace_bytes(const device::HostStream&, const OrderVisits& k) {
  return (k.counts.numel() + 1 + k.experts.numel()) * static_cast<Index>(sizeof(std::int64_t));
}

void run(device::HostStream&, const OrderVisits& k) {
  const SlotsByExpert sorted = sort_slots(k);
  const auto* counts = k.counts.as<std::int64_t>();
  Index next = 0;
  for (Index expert = 0; expert < k.counts.numel(); ++expert) {
    const Index count = counts[expert], taken = k.capacity.of(count);
    std::int64_t* slots = sorted.slots + sorted.starts[expert];
    if (taken < count) {
      keep(k, slots, count, taken);
    }
    const std::span<const std::int64_t> kept(slots,
                                             static_cast<std::size_t>(std::min(count, taken)));
    write_visits(k, kept, std::max<Index>(taken - count, 0),
                 {k.rows.as<std::int64_t>() + next, k.slots.as<std::int64_t>() + next});
    next += taken;
  }
  MPITRON_CHECK(next == k.rows.numel(), next, k.rows.numel());
}

}  // namespace mpitron::kernels
