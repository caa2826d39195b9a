#include "tokenizers/core/null_tokenizer.h"

#include <charconv>
#include <limits>

#include "utils/error.h"
#include "utils/text/hash.h"

// The tokenizer of runs without text: ids are written as decimal numbers. Source: Megatron's
// _NullTokenizer, with a check of every id.

namespace mpitron::tokenizers {
namespace {

constexpr std::string_view kSpaces = " \t\r\n\v\f";

}  // namespace

NullTokenizer::NullTokenizer(Index vocab_size) : ids_(vocab_size) {
  if (vocab_size < 1 || vocab_size >= std::numeric_limits<TokenId>::max()) {
    throw_usage("--tokenizer-type NullTokenizer needs --vocab-size between 1 and {}, given {}",
                std::numeric_limits<TokenId>::max() - 1, vocab_size);
  }
}

TokenizerIdentity NullTokenizer::identity() const {
  return {"_NullTokenizer", {std::nullopt}, {{"vocab_size", std::to_string(ids_)}}};
}

std::string NullTokenizer::fingerprint() const {
  return hash128_hex("NullTokenizer " + std::to_string(ids_));
}

void NullTokenizer::encode(std::string_view text, Cache&, TokenIds& ids) const {
  for (std::size_t at = text.find_first_not_of(kSpaces); at != std::string_view::npos;) {
    const std::string_view word = text.substr(at, text.find_first_of(kSpaces, at) - at);
    TokenId id = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size()) {
      throw_data(
          "NullTokenizer reads integers with spaces between them; at byte {} stands '{:.40}'", at,
          word);
    }
    check_token_id(id, vocab_size());
    ids.push_back(id);
    at = text.find_first_not_of(kSpaces, at + word.size());
  }
}

std::string NullTokenizer::decode(std::span<const TokenId> ids) const {
  std::string text;
  for (const TokenId id : ids) {
    check_token_id(id, vocab_size());
    text += (text.empty() ? "" : " ") + std::to_string(id);
  }
  return text;
}

std::unique_ptr<Tokenizer> make_null_tokenizer(const TokenizerOptions& options) {
  return std::make_unique<NullTokenizer>(options.vocab_size);
}

}  // namespace mpitron::tokenizers
