#include "inference/scheduling/prompt_lookup.h"

// Looks for the longest run of last tokens that stands earlier in the text, the latest among
// equally long ones, and drafts what follows it there.

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
    const TokenId next = sequence.tokens[static_cast<std::size_t>(behind + i)];
    if (next < 0) {  // a position of an image, which is never drawn
      break;
    }
    sequence.tokens.push_back(next);
    ++sequence.drafts;
  }
  return sequence.drafts;
}

}  // namespace mpitron::inference
