// Generates text by running the whole window for every token, without a cache: no more than a loop
// around the training forward pass. Windows are lengthened to a few lengths, because a GPU's
// libraries plan for each.
#include "inference/text_generator.h"

#include <algorithm>
#include <cmath>

#include "tensor/host_copy.h"
#include "utils/numbers/philox.h"

namespace mpitron::inference {
namespace {

using tensor::Tensor;

/// [s, 1] int64: the ids, or their positions.
template <class Value>
Tensor column(device::Device& device, std::size_t s, Value&& value) {
  const Tensor values = tensor::empty_on_host(device, {static_cast<Index>(s), 1}, DType::i64);
  for (std::size_t i = 0; i < s; ++i) {
    values.data<std::int64_t>()[i] = value(i);
  }
  return tensor::to_device(device, values);
}

double uniform_at(std::uint64_t seed, std::size_t step) {
  const auto bits =
      Philox::generate({static_cast<std::uint32_t>(step), 0, 0, 0},
                       {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return static_cast<double>(bits[0]) * 0x1p-32;
}

}  // namespace

/// Draws a token by the running sum of weights; temperature 0 takes the largest.
Index sample_token(const std::vector<float>& logits, double temperature, double uniform) {
  const auto largest = std::ranges::max_element(logits);
  if (temperature <= 0) {
    return largest - logits.begin();
  }
  const auto weight = [&](float logit) {
    return std::exp((static_cast<double>(logit) - *largest) / temperature);
  };
  double total = 0;
  for (const float logit : logits) {
    total += weight(logit);
  }
  double rest = uniform * total;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    rest -= weight(logits[i]);
    if (rest < 0) {
      return static_cast<Index>(i);
    }
  }
  return static_cast<Index>(logits.size()) - 1;
}

/// Runs the last window of a text and returns the logits behind its last token.
std::vector<float> TextGenerator::next_logits(const tokenizers::TokenIds& ids) const {
  const auto longest = static_cast<std::size_t>(model_.config().seq_length);
  const std::size_t window = std::min(ids.size(), longest);
  const std::size_t length =
      std::min((window + length_step_ - 1) / length_step_ * length_step_, longest);
  const auto first = ids.end() - static_cast<std::ptrdiff_t>(window);
  const models::Batch batch{
      {models::kTokens, column(device_, length,
                               [&](std::size_t i) {
                                 return i < window ? first[static_cast<std::ptrdiff_t>(i)] : 0;
                               })},
      {models::kPositionIds,
       column(device_, length, [](std::size_t i) { return static_cast<std::int64_t>(i); })}};
  autograd::Context context{.device = device_, .mode = autograd::Mode::evaluate};
  const Tensor all = model_.logits(context, batch).value;
  const auto last = static_cast<Index>(window) - 1;
  const Tensor logits = tensor::to_host(device_, all.slice(0, last, last + 1));
  std::vector<float> row;
  visit_dtype(logits.dtype(), [&]<class T>() {
    for (Index i = 0; i < tokenizer_.vocab_size(); ++i) {
      row.push_back(static_cast<float>(logits.data<T>()[i]));
    }
  });
  return row;
}

std::string TextGenerator::generate(const std::string& prompt,
                                    const SamplingSettings& settings) const {
  tokenizers::TokenIds ids = tokenizer_.encode(prompt);
  const std::size_t start = ids.empty() ? 1 : 0;  // a text begins behind the end of another
  if (ids.empty()) {
    ids.push_back(tokenizer_.eod());
  }
  for (Index i = 0; i < settings.tokens; ++i) {
    const double uniform = uniform_at(settings.seed, ids.size());
    const Index token = sample_token(next_logits(ids), settings.temperature, uniform);
    if (token == tokenizer_.eod()) {
      break;
    }
    ids.push_back(static_cast<tokenizers::TokenId>(token));
  }
  return tokenizer_.decode(std::span(ids).subspan(start));
}

}  // namespace mpitron::inference
