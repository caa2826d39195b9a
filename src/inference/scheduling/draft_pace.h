#pragma once
#include "utils/numbers/shape.h"

namespace mpitron::inference {

/// How many tokens it pays to draft, from what became of the drafts before: more after hits, none
/// for ever more steps after misses, so that drafts cost next to nothing where they are no use.
class DraftPace {
 public:
  /// Tokens that the next draft may have, of at most `most`; 0 while it waits, and a step less to
  /// wait from then on.
  Index allowed(Index most);
  /// Learns that of `proposed` tokens the first `drawn` were drawn.
  void learn(Index proposed, Index drawn);

 private:
  static constexpr Index kFirstLength = 2, kLongestWait = 64, kMostLength = 64;
  Index length_ = kFirstLength;
  Index wait_ = 0;
  Index misses_ = 0;  // in a row
};

}  // namespace mpitron::inference
