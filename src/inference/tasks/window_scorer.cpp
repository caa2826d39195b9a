// Scores texts by windows, whole passes of a model over batches of equal length. Windows are sorted
// by length first, so that padding is small; the numbers do not depend on it.
#include "inference/tasks/window_scorer.h"

#include <algorithm>
#include <numeric>

#include "ops/loss/cross_entropy.h"
#include "ops/loss/row_error.h"
#include "tensor/host_copy.h"

namespace mpitron::inference {
namespace {

using tensor::Tensor;

/// [s, b] int64.
template <class Value>
Tensor table(device::Device& device, Index s, Index b, Value&& value) {
  const Tensor values = tensor::empty_on_host(device, {s, b}, DType::i64);
  for (Index i = 0; i < s * b; ++i) {
    values.data<std::int64_t>()[i] = value(i / b, i % b);
  }
  return tensor::to_device(device, values);
}

WindowScorer::Options options_of(const models::Model& model, tokenizers::TokenId padding,
                                 Index batch_size) {
  return {.longest = model.config().seq_length, .batch_size = batch_size, .padding = padding};
}

/// Whole passes of a model, whose logits every rank has.
WindowScorer::Pass scoring_pass(device::Device& device, const models::Model& model) {
  return [&device, &model](const TokenBatch& batch, TokenScores& scores) {
    const Index s = batch.length, b = batch.rows;
    const auto at = [&](const std::vector<std::int64_t>& values) {
      return table(device, s, b,
                   [&](Index i, Index j) { return values[static_cast<std::size_t>(j * s + i)]; });
    };
    const models::Batch inputs{
        {models::kTokens, at(batch.tokens)},
        {models::kPositionIds, table(device, s, b, [](Index i, Index) { return i; })}};
    autograd::Context context{.device = device, .mode = autograd::Mode::evaluate};
    const Tensor logits = model.logits(context, inputs).value;
    const LabelScores found = score_labels(device, logits, at(batch.labels));
    for (Index i = 0; i < s * b; ++i) {
      const auto place = static_cast<std::size_t>(i % b * s + i / b);
      scores.losses[place] = static_cast<double>(found.losses.data<float>()[i]);
      scores.misses[place] = 1 - static_cast<double>(found.matches.data<float>()[i]);
    }
  };
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

LabelScores score_labels(device::Device& device, const Tensor& logits, const Tensor& labels) {
  autograd::Context context{.device = device, .mode = autograd::Mode::evaluate};
  const Tensor matches = ops::label_matches(context, logits, labels);
  const Tensor losses = ops::cross_entropy(context, autograd::constant(logits), labels).value;
  return {tensor::to_host(device, losses), tensor::to_host(device, matches)};
}

WindowScorer::WindowScorer(device::Device& device, const models::Model& model,
                           tokenizers::TokenId padding, Index batch_size)
    : WindowScorer(options_of(model, padding, batch_size), scoring_pass(device, model)) {}

/// Scores windows in batches of similar length, and returns them in the order in which they were
/// given.
std::vector<WindowScore> WindowScorer::score(std::span<const TextWindow> windows) const {
  std::vector<std::size_t> order(windows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return windows[i].tokens.size(); });
  std::vector<double> numbers(2 * windows.size());
  const auto size = static_cast<std::size_t>(options_.batch_size);
  const auto replicas = static_cast<std::size_t>(options_.replicas);
  for (std::size_t first = 0; first < order.size(); first += size * replicas) {
    const std::size_t own = first + size * static_cast<std::size_t>(options_.replica);
    const bool counts = own < order.size();
    const std::size_t begin = counts ? own : first;  // a replica without windows goes along
    score_batch(windows, std::span(order).subspan(begin, std::min(size, order.size() - begin)),
                counts ? &numbers : nullptr);
  }
  if (options_.sum) {
    options_.sum(numbers);
  }
  std::vector<WindowScore> scores(windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::size_t tokens = windows[i].tokens.size();
    scores[i] = {.loss = numbers[2 * i],
                 .tokens = tokens - std::min(tokens, windows[i].first_scored),
                 .greedy = numbers[2 * i + 1] == 0};
  }
  return scores;
}

/// Scores one batch; windows are filled up to the longest with padding that no label counts.
void WindowScorer::score_batch(std::span<const TextWindow> windows,
                               std::span<const std::size_t> chosen,
                               std::vector<double>* numbers) const {
  Index longest = 1;
  for (const std::size_t i : chosen) {
    const auto tokens = static_cast<Index>(windows[i].tokens.size());
    MPITRON_CHECK(tokens <= options_.longest + 1 && windows[i].first_scored > 0, tokens);
    longest = std::max(longest, tokens - 1);
  }
  const Index step = options_.length_step;
  const Index length = std::min((longest + step - 1) / step * step, options_.longest);
  TokenBatch batch{.rows = static_cast<Index>(chosen.size()), .length = length};
  for (const std::size_t i : chosen) {
    const tokenizers::TokenIds& ids = windows[i].tokens;
    for (std::size_t at = 0; at < static_cast<std::size_t>(length); ++at) {
      batch.tokens.push_back(at < ids.size() ? ids[at] : options_.padding);
      batch.labels.push_back(at + 1 < ids.size() ? ids[at + 1] : options_.padding);
    }
  }
  const auto places = static_cast<std::size_t>(batch.rows * length);
  TokenScores scores{std::vector<double>(places), std::vector<double>(places)};
  pass_(batch, scores);
  for (std::size_t row = 0; numbers != nullptr && row < chosen.size(); ++row) {
    const TextWindow& window = windows[chosen[row]];
    for (std::size_t i = window.first_scored; i < window.tokens.size(); ++i) {
      const std::size_t place = row * static_cast<std::size_t>(length) + i - 1;
      (*numbers)[2 * chosen[row]] += scores.losses[place];
      (*numbers)[2 * chosen[row] + 1] += scores.misses[place];
    }
  }
}

}  // namespace mpitron::inference
