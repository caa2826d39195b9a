#include "comm/messages/message_collective.h"

#include <algorithm>

namespace mpitron::comm {

/// A sequence number has its tags back only when the operation 16 before it has ended here.
bool MessageCollective::step() {
  bool& taken = members_.tags_taken(sequence_);
  if (!begun_) {
    if (taken) {
      return false;
    }
    taken = begun_ = true;
    begin();
  }
  if (!advance()) {
    return false;
  }
  taken = false;
  return true;
}

/// World ranks, each once, for the watchdog's sentence.
std::vector<Index> MessageCollective::absent() const {
  std::vector<Index> ranks;
  add_absent(ranks);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace mpitron::comm
