#include "tokenizers/hugging_face/hf_added_tokens.h"

#include <algorithm>

#include "tokenizers/text/unicode_text.h"
#include "utils/text/utf8.h"

// Added tokens of a tokenizer.json: found by one search for all of them, the longest at a place
// first, and filtered by what Hugging Face's AddedToken says (single_word, lstrip, rstrip).

namespace mpitron::tokenizers {
namespace {

/// Walks back over UTF-8's continuation bytes; the text must not be empty.
bool begins_with_word(std::string_view text) {
  return !text.empty() && is_word(decode_utf8(text).code_point);
}

bool ends_with_word(std::string_view text) {
  return !text.empty() && is_word(decode_utf8(last_character(text)).code_point);
}

std::size_t spaces_at_end(std::string_view text) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const std::string_view last = last_character(text.substr(0, text.size() - bytes));
    if (!is_white_space(decode_utf8(last).code_point)) {
      break;
    }
    bytes += last.size();
  }
  return bytes;
}

std::size_t spaces_at_start(std::string_view text) {
  std::size_t bytes = 0;
  while (bytes < text.size() && is_white_space(decode_utf8(text.substr(bytes)).code_point)) {
    bytes += static_cast<std::size_t>(std::max(1, decode_utf8(text.substr(bytes)).bytes));
  }
  return bytes;
}

/// Defaults are those of the tokenizers crate: special tokens are looked for before normalisation,
/// others after it.
std::vector<HfAddedTokens::Token> parse_tokens(const JsonView& list) {
  std::vector<HfAddedTokens::Token> tokens;
  if (list.is_null()) {
    return tokens;
  }
  list.for_elements([&](const JsonView& entry) {
    constexpr Index kMostTokens = Index{1} << 24;
    const Index id = entry.at("id").integer();
    if (id < 0 || id >= kMostTokens) {
      entry.at("id").refuse("it is outside the possible ids");
    }
    tokens.push_back({.content = entry.at("content").text(),
                      .id = static_cast<TokenId>(id),
                      .single_word = entry.boolean("single_word", false),
                      .lstrip = entry.boolean("lstrip", false),
                      .rstrip = entry.boolean("rstrip", false),
                      .normalized = entry.boolean("normalized", !entry.boolean("special", false)),
                      .special = entry.boolean("special", false)});
  });
  return tokens;
}

}  // namespace

HfAddedTokens::HfAddedTokens(const JsonView& list, const TextRule& normalizer)
    : tokens_(parse_tokens(list)),
      raw_(make_group(false, normalizer)),
      normalized_(make_group(true, normalizer)) {}

/// Tokens that are looked for in normalised text are normalised themselves.
HfAddedTokens::Group HfAddedTokens::make_group(bool normalized, const TextRule& normalizer) const {
  std::vector<std::size_t> members;
  std::vector<std::string> contents;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].normalized == normalized) {
      members.push_back(i);
      contents.push_back(tokens_[i].content);
      if (normalized && normalizer) {
        normalizer(contents.back());
      }
    }
  }
  return {members, MarkerFinder(contents, MarkerFinder::Tie::longest)};
}

/// A rejected hit of a single_word token is passed over as a whole, like in the tokenizers crate.
/// Blanks that one token strips are not given to the next one again: `done` never goes back.
void HfAddedTokens::split(std::string_view text, bool at_start, bool normalized,
                          const TextHandler& on_text, const TokenHandler& on_token) const {
  const Group& group = normalized ? normalized_ : raw_;
  std::size_t done = 0;
  const auto flush = [&](std::size_t end) {
    if (end > done) {
      on_text(text.substr(done, end - done), at_start && done == 0);
    }
  };
  for (std::size_t from = 0;;) {
    const auto hit = group.finder.next(text, from);
    if (!hit) {
      break;
    }
    const Token& token = tokens_[group.members[hit->marker]];
    std::size_t begin = hit->at;
    std::size_t end = hit->at + hit->bytes;
    from = end;
    if (token.single_word &&
        (ends_with_word(text.substr(0, begin)) || begins_with_word(text.substr(end)))) {
      continue;
    }
    if (token.lstrip) {
      begin = std::max(done, begin - spaces_at_end(text.substr(0, begin)));
    }
    if (token.rstrip) {
      end += spaces_at_start(text.substr(end));
    }
    flush(begin);
    on_token(token.id);
    done = std::max(done, end);
    from = std::max(from, done);
  }
  flush(text.size());
}

}  // namespace mpitron::tokenizers
