#include "inference/scheduling/draft_pace.h"

#include <algorithm>

// Doubles the length of drafts after full hits and the waits after misses.

namespace mpitron::inference {

Index DraftPace::allowed(Index most) {
  if (wait_ > 0) {
    --wait_;
    return 0;
  }
  return std::min(most, length_);
}

/// Doubles the length after a full hit; after a miss drafts pause, twice as long each time.
void DraftPace::learn(Index proposed, Index drawn) {
  if (proposed == 0) {
    return;
  }
  if (drawn == 0) {
    constexpr Index kLongestPower = 16;
    length_ = kFirstLength;
    wait_ = std::min(kLongestWait, Index{1} << std::min(misses_, kLongestPower));
    ++misses_;
    return;
  }
  misses_ = 0;
  length_ =
      drawn == proposed ? std::min(2 * length_, kMostLength) : std::max(drawn + 1, kFirstLength);
}

}  // namespace mpitron::inference
