#include "tokenizers/sentencepiece/sentencepiece_normalizer.h"

#include "utils/error.h"
#include "utils/text/utf8.h"

// Normalisation rule by rule along the text. Most text is ASCII that no rule concerns, so runs of
// it are copied at once; a character is safe only before another ASCII one, since rules may span
// two.

namespace mpitron::tokenizers {
namespace {

Trie make_symbols(const SentencePieceModel& model) {
  std::vector<std::pair<std::string_view, std::int32_t>> entries;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    if (model.pieces[id].type == SentencePieceModel::PieceType::user_defined) {
      entries.emplace_back(model.pieces[id].text, static_cast<std::int32_t>(id));
    }
  }
  return Trie(std::move(entries));
}

}  // namespace

SentencePieceNormalizer::SentencePieceNormalizer(const SentencePieceModel& model)
    : options_(model.normalizer),
      charsmap_(model.normalizer.charsmap),
      symbols_(make_symbols(model)) {
  for (char c = 1; c > 0 && c < 127; ++c) {
    Trie::Node node = Trie::kRoot;
    plain_[static_cast<std::size_t>(c)] =
        c != ' ' && !charsmap_.concerns_ascii(c) && !symbols_.step(node, c);
  }
}

SentencePieceNormalizer::Part SentencePieceNormalizer::next(std::string_view rest,
                                                            std::size_t offset) const {
  if (!symbols_.empty()) {
    if (const Trie::Match symbol = symbols_.longest(rest); symbol.bytes > 0) {
      return {rest.substr(0, symbol.bytes), symbol.bytes};
    }
  }
  if (const auto rule = charsmap_.longest(rest)) {
    return {rule->replacement, rule->bytes};
  }
  const auto bytes = static_cast<std::size_t>(decode_utf8(rest).bytes);
  if (bytes == 0) {
    throw_data("text is not valid UTF-8 at byte {} (0x{:02X})", offset,
               static_cast<unsigned>(static_cast<unsigned char>(rest.front())));
  }
  return {rest.substr(0, bytes), bytes};
}

/// Leading blanks go first, before the dummy prefix is added; trailing ones at the end. A text of
/// blanks alone becomes empty, without a prefix.
void SentencePieceNormalizer::normalize(std::string_view text, std::string& out) const {
  out.clear();
  std::size_t at = 0;
  while (options_.remove_extra_whitespaces && at < text.size()) {
    const Part part = next(text.substr(at), at);
    if (part.text != " ") {
      break;
    }
    at += part.bytes;
  }
  if (at == text.size()) {
    return;
  }
  if (options_.add_dummy_prefix && !options_.whitespace_as_suffix) {
    out += space();
  }
  bool after_space = options_.remove_extra_whitespaces;
  while (at < text.size()) {
    const std::size_t start = at;
    while (at + 1 < text.size() && static_cast<signed char>(text[at]) >= 0 &&
           plain_[static_cast<std::size_t>(text[at])] &&
           static_cast<signed char>(text[at + 1]) >= 0) {
      ++at;
    }
    if (at > start) {
      out.append(text, start, at - start);
      after_space = false;
    }
    Part part = next(text.substr(at), at);
    at += part.bytes;
    while (after_space && part.text.starts_with(' ')) {
      part.text.remove_prefix(1);
    }
    for (const char c : part.text) {
      if (c == ' ') {
        out += space();
      } else {
        out += c;
      }
    }
    if (!part.text.empty()) {
      after_space = options_.remove_extra_whitespaces && part.text.ends_with(' ');
    }
  }
  while (options_.remove_extra_whitespaces && out.ends_with(space())) {
    out.erase(out.size() - space().size());
  }
  if (options_.add_dummy_prefix && options_.whitespace_as_suffix) {
    out += space();
  }
}

}  // namespace mpitron::tokenizers
