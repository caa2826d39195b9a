#include "tokenizers/word_piece/word_piece.h"

#include <algorithm>

#include "utils/text/utf8.h"

// WordPiece by a trie: continuation pieces are searched from the node behind the prefix, so that no
// text is copied together.

namespace mpitron::tokenizers {
namespace {

Trie trie_of_tokens(const std::vector<std::string>& tokens) {
  std::vector<std::pair<std::string_view, std::int32_t>> entries;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    entries.emplace_back(tokens[id], static_cast<std::int32_t>(id));
  }
  return Trie(std::move(entries));
}

Index count_characters(std::string_view word) {
  return std::count_if(word.begin(), word.end(), [](char c) { return !continues_character(c); });
}

}  // namespace

WordPiece::WordPiece(const std::vector<std::string>& tokens, Options options)
    : options_(std::move(options)), trie_(trie_of_tokens(tokens)) {
  has_continued_ = std::all_of(options_.continuation.begin(), options_.continuation.end(),
                               [&](char byte) { return trie_.step(continued_, byte); });
}

/// Takes back the pieces of a word whose rest cannot be covered.
void WordPiece::encode(std::string_view word, TokenIds& ids) const {
  const std::size_t before = ids.size();
  bool covered = count_characters(word) <= options_.max_characters;
  for (std::size_t at = 0; covered && at < word.size();) {
    const bool first = at == 0;
    const Trie::Match match = first || has_continued_
                                  ? trie_.longest(word.substr(at), first ? Trie::kRoot : continued_)
                                  : Trie::Match{};
    covered = match.bytes > 0;
    at += match.bytes;
    ids.push_back(match.value);
  }
  if (!covered) {
    ids.resize(before);
    ids.push_back(options_.unknown);
  }
}

}  // namespace mpitron::tokenizers
