#include "tokenizers/hugging_face/hf_bpe_model.h"

#include <algorithm>

#include "tokenizers/sentencepiece/sentencepiece_model.h"
#include "tokenizers/text/byte_alphabet.h"
#include "utils/error.h"

// Reads the model "BPE" of a tokenizer.json. Options follow the tokenizers crate, also where they
// meet each other.

namespace mpitron::tokenizers {

HfBpeModel::HfBpeModel(const JsonView& spec, bool byte_level) : byte_level_(byte_level) {
  spec.at("vocab").for_members(
      [&](const std::string& token, const JsonView& id) { add_token(id, token, id.integer()); });
  read_options(spec);
  read_merges(spec.at("merges"));
  index_bytes();
  cuts_at_spaces_ = may_cut_at_spaces();
}

void HfBpeModel::read_options(const JsonView& spec) {
  if (spec.has("dropout") && spec.at("dropout").number() != 0) {
    spec.at("dropout").refuse("dropout of merges is not supported; set it to null");
  }
  byte_fallback_ = spec.boolean("byte_fallback", false);
  fuse_unknown_ = spec.boolean("fuse_unk", false);
  ignore_merges_ = spec.boolean("ignore_merges", false);
  prefix_ = spec.text("continuing_subword_prefix", "");
  suffix_ = spec.text("end_of_word_suffix", "");
  if (spec.has("unk_token")) {
    unknown_ = find_token(spec.at("unk_token").text());
    if (unknown_ < 0) {
      spec.at("unk_token").refuse("this token is not in the vocabulary");
    }
  }
}

/// A merge is "left right" in old files and ["left", "right"] in new ones. The prefix of the right
/// part is dropped when both are joined.
void HfBpeModel::read_merges(const JsonView& merges) {
  std::vector<SymbolMerges::Rule> rules;
  merges.for_elements([&](const JsonView& entry) {
    std::string left, right;
    if (entry.is_text()) {
      const std::string both = entry.text();
      const std::size_t space = std::min(both.find(' '), both.size());
      left = both.substr(0, space);
      right = both.substr(std::min(space + 1, both.size()));
    } else {
      left = entry.at(Index{0}).text();
      right = entry.at(1).text();
    }
    const std::string_view tail = right.starts_with(prefix_)
                                      ? std::string_view(right).substr(prefix_.size())
                                      : std::string_view(right);
    const SymbolMerges::Rule rule{find_token(left), find_token(right),
                                  static_cast<std::uint32_t>(rules.size()),
                                  find_token(left + std::string(tail))};
    if (rule.left < 0 || rule.right < 0 || rule.result < 0) {
      entry.refuse("one of the two tokens, or both together, is not in the vocabulary");
    }
    rules.push_back(rule);
  });
  merges_.emplace(rules);
}

void HfBpeModel::index_bytes() {
  for (int byte = 0; byte < 256; ++byte) {
    byte_ids_.push_back(find_token(byte_level_
                                       ? bytes_to_alphabet(std::string(1, static_cast<char>(byte)))
                                       : fmt::format("<0x{:02X}>", byte)));
  }
  for (std::size_t id = 0; byte_level_ && ignore_merges_ && id < tokens().size(); ++id) {
    const std::string bytes = alphabet_to_bytes(tokens()[id]);
    if (!bytes.empty() && bytes_to_alphabet(bytes) == tokens()[id]) {
      whole_.emplace(bytes, static_cast<TokenId>(id));
    }
  }
}

/// Tells whether a text may be cut before each run of blanks without changing its ids: no token
/// goes on over a blank into a word. Then words can be cached although nothing splits the text.
bool HfBpeModel::may_cut_at_spaces() const {
  const bool plain = !byte_level_ && !ignore_merges_ && prefix_.empty() && suffix_.empty();
  return plain && find_token(kMetaSpace) >= 0 &&
         std::all_of(tokens().begin(), tokens().end(), [](std::string_view token) {
           while (token.starts_with(kMetaSpace)) {
             token.remove_prefix(kMetaSpace.size());
           }
           return token.find(kMetaSpace) == std::string_view::npos;
         });
}

}  // namespace mpitron::tokenizers
