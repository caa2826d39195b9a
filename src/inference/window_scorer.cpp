#include "inference/window_scorer.h"

#include <algorithm>
#include <cmath>

#include "tensor/host_copy.h"

namespace mpitron::inference {
namespace {

using tensor::Tensor;

/// Lengths are rounded up to it, so that a GPU plans for few of them.
constexpr std::size_t kLengthStep = 64;

/// [s, b] int64.
template <class Value>
Tensor table(device::Device& device, std::size_t s, std::size_t b, Value&& value) {
  const Tensor values =
      tensor::empty_on_host(device, {static_cast<Index>(s), static_cast<Index>(b)}, DType::i64);
  for (std::size_t i = 0; i < s * b; ++i) {
    values.data<std::int64_t>()[i] = value(i / b, i % b);
  }
  return tensor::to_device(device, values);
}

/// Adds the prediction of `target` by one row of logits, in double.
template <class T>
void add(const T* row, std::size_t columns, std::size_t target, WindowScore& score) {
  const auto at = [&](std::size_t i) { return static_cast<double>(static_cast<float>(row[i])); };
  std::size_t best = 0;
  for (std::size_t i = 1; i < columns; ++i) {
    best = at(i) > at(best) ? i : best;
  }
  double total = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    total += std::exp(at(i) - at(best));
  }
  score.loss += at(best) - at(target) + std::log(total);
  score.greedy = score.greedy && best == target;
  ++score.tokens;
}

}  // namespace

bool cut_front(TextWindow& window, std::size_t length) {
  if (window.tokens.size() <= length + 1) {
    return false;
  }
  const std::size_t excess = window.tokens.size() - length - 1;
  window.tokens.erase(window.tokens.begin(),
                      window.tokens.begin() + static_cast<std::ptrdiff_t>(excess));
  window.first_scored = std::max<std::size_t>(window.first_scored, excess + 1) - excess;
  return true;
}

std::vector<WindowScore> WindowScorer::score(std::span<const TextWindow> windows) const {
  std::vector<WindowScore> scores;
  const auto size = static_cast<std::size_t>(batch_size_);
  for (std::size_t first = 0; first < windows.size(); first += size) {
    score_batch(windows.subspan(first, std::min(size, windows.size() - first)), scores);
  }
  return scores;
}

void WindowScorer::score_batch(std::span<const TextWindow> windows,
                               std::vector<WindowScore>& scores) const {
  const auto longest = static_cast<std::size_t>(model_.config().seq_length);
  std::size_t s = 1;
  for (const TextWindow& window : windows) {
    MPITRON_CHECK(window.tokens.size() <= longest + 1 && window.first_scored > 0, longest);
    s = std::max(s, window.tokens.size() - (window.tokens.empty() ? 0 : 1));
  }
  s = std::min((s + kLengthStep - 1) / kLengthStep * kLengthStep, longest);
  const std::size_t b = windows.size();
  const models::Batch batch{
      {models::kTokens, table(device_, s, b,
                              [&](std::size_t i, std::size_t j) {
                                const tokenizers::TokenIds& ids = windows[j].tokens;
                                return static_cast<std::int64_t>(i < ids.size() ? ids[i]
                                                                                : padding_);
                              })},
      {models::kPositionIds, table(device_, s, b, [](std::size_t i, std::size_t) {
         return static_cast<std::int64_t>(i);
       })}};
  autograd::Context context{.device = device_, .mode = autograd::Mode::evaluate};
  const Tensor logits = tensor::to_host(device_, model_.logits(context, batch).value);
  const auto columns = static_cast<std::size_t>(model_.config().padded_vocab_size);
  visit_dtype(logits.dtype(), [&]<class T>() {
    for (std::size_t j = 0; j < b; ++j) {
      const TextWindow& window = windows[j];
      WindowScore& score = scores.emplace_back();
      for (std::size_t i = window.first_scored; i < window.tokens.size(); ++i) {
        add(logits.data<T>() + ((i - 1) * b + j) * columns, columns,
            static_cast<std::size_t>(window.tokens[i]), score);
      }
    }
  });
}

}  // namespace mpitron::inference
