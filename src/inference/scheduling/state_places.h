#pragma once
#include "inference/scheduling/sequence.h"

namespace mpitron::inference {

/// Which places of an engine hold what layers carry of the sequences that run. A slot has two, of
/// which a step reads one and writes the other: drafts that were wrong are taken back by reading
/// the first again.
struct StatePlaces {
  Index slots = 0;
  Index places = 0;  // 0: layers carry nothing

  /// False where a slot has one place only.
  bool can_take_back() const { return places != slots; }
  /// Returns the place of a sequence's newest states among its slot's; -1 where there are none.
  Index own(const Sequence& sequence) const { return at(sequence, sequence.states.other); }
  /// Returns the place that its next step writes.
  Index next(const Sequence& sequence) const { return at(sequence, !sequence.states.other); }
  /// Returns the place that its next step reads: its own, or one kept of a text that begins like
  /// it; -1 where it begins.
  Index before(const Sequence& sequence) const {
    return sequence.computed == 0       ? -1
           : sequence.states.place >= 0 ? sequence.states.place
                                        : own(sequence);
  }

 private:
  Index at(const Sequence& sequence, bool other) const {
    if (places == 0) {
      return -1;
    }
    const Index of_slot = places / slots;
    return sequence.slot * of_slot + (other && of_slot > 1 ? 1 : 0);
  }
};

}  // namespace mpitron::inference
