#include "inference/sampling/log_probs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mpitron::inference {

TokenLogProbs log_probs(std::span<const float> logits, TokenId token, Index vocabulary, Index top) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - largest);
  }
  const double total = largest + std::log(sum);
  const auto value = [&](TokenId id) {
    return static_cast<float>(static_cast<double>(logits[static_cast<std::size_t>(id)]) - total);
  };
  TokenLogProbs result{.token = {token, value(token)}, .top = {}};
  if (top > 0) {
    std::vector<TokenId> ids(static_cast<std::size_t>(vocabulary));
    std::iota(ids.begin(), ids.end(), TokenId{0});
    const auto count = std::min(top, vocabulary);
    std::ranges::partial_sort(ids, ids.begin() + count, [&](TokenId a, TokenId b) {
      const float la = logits[static_cast<std::size_t>(a)];
      const float lb = logits[static_cast<std::size_t>(b)];
      return la != lb ? la > lb : a < b;
    });
    for (Index i = 0; i < count; ++i) {
      const TokenId id = ids[static_cast<std::size_t>(i)];
      result.top.push_back({id, value(id)});
    }
  }
  return result;
}

}  // namespace mpitron::inference
