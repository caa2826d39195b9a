#include "inference/scheduling/whole_images.h"

#include <algorithm>

namespace mpitron::inference {

Index cut_at_images(const Sequence& sequence, Index tokens, Index most) {
  const auto of_image = [&](Index i) {
    return i < sequence.size() && sequence.tokens[static_cast<std::size_t>(i)] < 0;
  };
  const Index first = sequence.computed;
  Index end = first + tokens;
  if (tokens == 0 || !of_image(end - 1) || !of_image(end)) {
    return tokens;
  }
  while (end > first && of_image(end - 1)) {
    --end;
  }
  if (end > first) {
    return end - first;
  }
  while (of_image(end)) {
    ++end;
  }
  return end - first <= most ? end - first : 0;
}

Index count_seen(const Sequence& sequence, Index tokens) {
  const auto begin = sequence.tokens.begin();
  return std::count_if(begin, begin + tokens, [](TokenId id) { return id < 0; });
}

Index longest_image(const Sequence& sequence) {
  Index longest = 0, length = 0;
  for (const TokenId id : sequence.tokens) {
    length = id < 0 ? length + 1 : 0;
    longest = std::max(longest, length);
  }
  return longest;
}

}  // namespace mpitron::inference
