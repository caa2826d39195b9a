#include "inference/templates/infill_prompt.h"

#include <array>

#include "tokenizers/core/single_token.h"

// Lists order and names of the fill-in-the-middle tokens, a row per family; the first family whose
// tokens the tokenizer has is taken.

namespace mpitron::inference {
namespace {

using tokenizers::TokenIds;

/// Tokens before the first text, between the texts and behind the second one.
struct InfillFamily {
  const char* first;
  const char* second;
  const char* third;
  bool suffix_first = false;  // the text behind comes before the one in front
};

constexpr std::array kFamilies = {
    InfillFamily{"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"},
    InfillFamily{"<fim_prefix>", "<fim_suffix>", "<fim_middle>"},
    InfillFamily{"<fim-prefix>", "<fim-suffix>", "<fim-middle>"},
    InfillFamily{"▁<PRE>", "▁<SUF>", "▁<MID>"},
    InfillFamily{"<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"},
    InfillFamily{"[SUFFIX]", "[PREFIX]", "", true}};

/// Appends the id of a text that is one token of its own; false where it is not. An empty text
/// appends nothing.
bool append_token(const tokenizers::Tokenizer& tokenizer, const std::string& text, TokenIds& ids) {
  const auto token = tokenizers::single_token(tokenizer, text);
  if (token) {
    ids.push_back(*token);
  }
  return token || text.empty();
}

void append_text(const tokenizers::Tokenizer& tokenizer, const std::string& text, TokenIds& ids) {
  const TokenIds more = tokenizer.encode_part(text);
  ids.insert(ids.end(), more.begin(), more.end());
}

}  // namespace

std::optional<TokenIds> infill_prompt(const tokenizers::Tokenizer& tokenizer,
                                      const std::string& before, const std::string& after) {
  for (const InfillFamily& family : kFamilies) {
    TokenIds ids;
    if (!append_token(tokenizer, family.first, ids)) {
      continue;
    }
    append_text(tokenizer, family.suffix_first ? after : before, ids);
    if (!append_token(tokenizer, family.second, ids)) {
      continue;
    }
    append_text(tokenizer, family.suffix_first ? before : after, ids);
    if (append_token(tokenizer, family.third, ids)) {
      return ids;
    }
  }
  return std::nullopt;
}

}  // namespace mpitron::inference
