#include "inference/scheduling/prompt_lookup.h"

#include <algorithm>

namespace mpitron::inference {
namespace {

/// How many tokens before `a` and before `b` are equal, counted from there backwards; at most
/// `most`, and b > a.
Index equal_before(std::span<const TokenId> tokens, Index a, Index b, Index most) {
  Index count = 0;
  while (count < most && a - count > 0 &&
         tokens[static_cast<std::size_t>(a - count - 1)] ==
             tokens[static_cast<std::size_t>(b - count - 1)]) {
    ++count;
  }
  return count;
}

}  // namespace

Index PromptLookup::propose(Sequence& sequence, Index most) const {
  most = std::min({most, settings_.most, sequence.history.length});
  if (sequence.history.wait > 0) {
    --sequence.history.wait;
    return 0;
  }
  if (most <= 0) {
    return 0;
  }
  const std::span<const TokenId> tokens = sequence.tokens;
  const Index size = sequence.size();
  Index best = 0, behind = 0;
  for (Index end = size - 1; end > 0 && best < settings_.most_match; --end) {
    const Index match = equal_before(tokens, end, size, settings_.most_match);
    if (match > best) {
      best = match;
      behind = end;
    }
  }
  if (best < settings_.least_match) {
    return 0;
  }
  for (Index i = 0; i < most; ++i) {  // what repeats goes on repeating
    sequence.tokens.push_back(sequence.tokens[static_cast<std::size_t>(behind + i)]);
  }
  sequence.drafts = most;
  return most;
}

void PromptLookup::learn(DraftHistory& history, Index proposed, Index drawn) const {
  if (proposed == 0) {
    return;
  }
  if (drawn == 0) {
    history.length = 2;
    history.wait =
        std::min(settings_.longest_wait, Index{1} << std::min<Index>(history.misses, 16));
    ++history.misses;
  } else {
    history.misses = 0;
    history.wait = 0;
    history.length = drawn == proposed ? std::min(2 * history.length, settings_.most)
                                       : std::max<Index>(drawn + 1, 2);
  }
}

}  // namespace mpitron::inference
