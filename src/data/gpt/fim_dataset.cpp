#include "data/gpt/fim_dataset.h"

#include <algorithm>

#include "data/gpt/fim_permutation.h"
#include "data/index/numpy_random.h"
#include "tokenizers/core/single_token.h"
#include "utils/error.h"
#include "utils/numbers/philox.h"

// Filling in the middle (Bavarian et al. 2022) as the reference does it: draws are made in its
// order, so that the same state of the generator cuts a text at the same characters. Each sample
// has a generator of its own here.

namespace mpitron::data {
namespace {

using tokenizers::TokenId;
using Tokens = std::vector<std::int64_t>;
using TokenSpan = std::span<const std::int64_t>;

/// Returns the one id that stands for the text alone, whether or not texts may name it.
std::optional<TokenId> find_token(const tokenizers::Tokenizer& tokenizer, const std::string& text) {
  if (const auto named = tokenizers::single_token(tokenizer, text)) {
    return named;
  }
  for (Index id = 0; id < tokenizer.vocab_size(); ++id) {
    const auto token = static_cast<TokenId>(id);
    if (tokenizer.decode({&token, 1}) == text) {
      return token;
    }
  }
  return std::nullopt;
}

}  // namespace

FimOptions make_fim_options(const config::FimConfig& config, Index seed,
                            const tokenizers::Tokenizer& tokenizer) {
  FimOptions options{.config = config, .split = {}, .seed = seed, .tokenizer = &tokenizer};
  const auto need = [&](const char* option, const std::string& text) {
    const std::optional<TokenId> token = find_token(tokenizer, text);
    if (!token) {
      throw_usage("--fim-{} {}: {} has no such token; name one that its vocabulary has", option,
                  text, tokenizer.name());
    }
    return *token;
  };
  options.prefix = need("prefix-token", config.prefix_token);
  options.middle = need("middle-token", config.middle_token);
  options.suffix = need("suffix-token", config.suffix_token);
  options.pad = need("pad-token", config.pad_token);
  options.eod = need("eod-token", config.eod_token);
  if (config.split_sample) {
    options.split = need("split-sample", *config.split_sample);
  }
  return options;
}

Tokens fill_in_the_middle(TokenSpan tokens, const FimOptions& options, RandomState& random) {
  FimPermutation permutation(options, random);
  permutation.for_each_part(tokens, options.eod,
                            [&](TokenSpan part) { permutation.add_part(part); });
  return permutation.take();
}

FimDataset::FimDataset(std::shared_ptr<const Dataset> base, FimOptions options)
    : base_(std::move(base)), options_(std::move(options)) {}

/// Permutes the tokens of a sample; what the corpus lacks (negative ids) stays padding of the data
/// set's. A text that became longer is cut, a shorter one padded with the pad token.
void FimDataset::read(Index sample, std::span<std::int64_t> tokens) const {
  base_->read(sample, tokens);
  const auto held = static_cast<std::size_t>(
      std::ranges::find_if(tokens, [](std::int64_t token) { return token < 0; }) - tokens.begin());
  const auto number = static_cast<std::uint64_t>(sample);
  RandomState random(Philox::generate(
      {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32), 0, 0},
      {static_cast<std::uint32_t>(options_.seed), 0})[0]);
  const Tokens text = fill_in_the_middle(tokens.first(held), options_, random);
  const std::size_t kept = std::min(text.size(), held);
  std::copy_n(text.begin(), kept, tokens.begin());
  std::fill(tokens.begin() + static_cast<std::ptrdiff_t>(kept),
            tokens.begin() + static_cast<std::ptrdiff_t>(held), options_.pad);
}

}  // namespace mpitron::data
