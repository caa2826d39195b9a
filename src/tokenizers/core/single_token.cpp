#include "tokenizers/core/single_token.h"

#include "utils/error.h"

namespace mpitron::tokenizers {

std::optional<TokenId> single_token(const Tokenizer& tokenizer, const std::string& text) {
  try {
    const TokenIds ids = tokenizer.encode_part(text);
    return ids.size() == 1 && tokenizer.decode(ids) == text ? std::optional(ids[0]) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace mpitron::tokenizers
