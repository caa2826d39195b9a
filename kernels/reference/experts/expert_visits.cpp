#include "kernels/experts/expert_visits.h"

#include <vector>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

constexpr Index kNotVisited = -1;

/// Returns for every token the slot by which it visits the expert.
std::vector<Index> slots_of(const Reader& experts, Index tokens, Index k, Index expert) {
  std::vector<Index> slots(static_cast<std::size_t>(tokens), kNotVisited);
  for (Index slot = 0; slot < tokens * k; ++slot) {
    if (static_cast<Index>(experts(slot / k, slot % k)) == expert) {
      slots[static_cast<std::size_t>(slot / k)] = slot;
    }
  }
  return slots;
}

/// Returns the token whose visit is dropped next; kNotVisited if there is none.
Index worst(const std::vector<Index>& slots, const OrderVisits& kernel) {
  const Reader probabilities(kernel.probabilities);
  const Index k = kernel.experts.size(1);
  const auto value = [&](Index slot) { return probabilities(slot / k, slot % k); };
  Index result = kNotVisited;
  for (Index token = 0; token < static_cast<Index>(slots.size()); ++token) {
    const Index slot = slots[static_cast<std::size_t>(token)];
    if (slot == kNotVisited) {
      continue;
    }
    const bool worse = result == kNotVisited || kernel.capacity.drop == DropPolicy::last_position ||
                       value(slot) <= value(slots[static_cast<std::size_t>(result)]);
    result = worse ? token : result;
  }
  return result;
}

}  // namespace

/// Counts the visits of each expert, dropped ones among them.
void run(device::ReferenceStream&, const CountVisits& kernel) {
  const Reader experts(kernel.experts);
  const Writer counts(kernel.counts);
  for (Index expert = 0; expert < kernel.counts.numel(); ++expert) {
    Index count = 0;
    for (Index i = 0; i < kernel.experts.numel(); ++i) {
      count += static_cast<Index>(
                   experts(i / kernel.experts.size(1), i % kernel.experts.size(1))) == expert
                   ? 1
                   : 0;
    }
    counts.set(static_cast<double>(count), expert);
  }
}

/// Orders visits by expert and then by token. A capacity drops the worst, or the last ones, and is
/// filled up with other tokens.
void run(device::ReferenceStream&, const OrderVisits& kernel) {
  const Reader experts(kernel.experts), counts(kernel.counts);
  const Writer rows(kernel.rows), slots(kernel.slots);
  const Index tokens = kernel.experts.size(0), k = kernel.experts.size(1);
  Index next = 0;
  for (Index expert = 0; expert < kernel.counts.numel(); ++expert) {
    std::vector<Index> visiting = slots_of(experts, tokens, k, expert);
    const auto count = static_cast<Index>(counts(expert));
    const Index taken = kernel.capacity.of(count);
    for (Index dropped = taken; dropped < count; ++dropped) {
      visiting[static_cast<std::size_t>(worst(visiting, kernel))] = kNotVisited;
    }
    for (Index token = 0, fill = taken - count; token < tokens; ++token) {
      const Index slot = visiting[static_cast<std::size_t>(token)];
      const bool fills = slot == kNotVisited && fill > 0;
      if (slot != kNotVisited || fills) {
        fill -= fills ? 1 : 0;
        rows.set(static_cast<double>(token), next);
        slots.set(static_cast<double>(slot), next++);
      }
    }
  }
  MPITRON_CHECK(next == kernel.rows.numel(), next, kernel.rows.numel());
}

}  // namespace mpitron::kernels
