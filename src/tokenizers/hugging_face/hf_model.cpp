#include "tokenizers/hugging_face/hf_model.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "tokenizers/hugging_face/hf_bpe_model.h"
#include "tokenizers/hugging_face/hf_unigram_model.h"
#include "tokenizers/word_piece/unigram.h"
#include "tokenizers/word_piece/word_piece.h"

// Models of a tokenizer.json other than BPE: WordPiece, WordLevel and Unigram, from pieces of text
// to ids, and the choice among all four.

namespace mpitron::tokenizers {

void HfModel::add_token(const JsonView& place, std::string token, Index id) {
  constexpr Index kMostTokens = Index{1} << 24;
  if (id < 0 || id >= kMostTokens) {
    place.refuse(fmt::format("the id {} is outside 0 to {}", id, kMostTokens - 1));
  }
  const auto at = static_cast<std::size_t>(id);
  tokens_.resize(std::max(tokens_.size(), at + 1));
  if (!tokens_[at].empty() || !ids_.emplace(token, static_cast<TokenId>(id)).second) {
    place.refuse(fmt::format("token \"{}\" with id {} appears twice", token, id));
  }
  tokens_[at] = std::move(token);
}

TokenId HfModel::find_token(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? -1 : found->second;
}

namespace {

/// WordPiece and WordLevel: the vocabulary is an object, and what it does not hold becomes one
/// unknown token.
class WordModel : public HfModel {
 public:
  WordModel(const JsonView& spec, bool pieces) {
    spec.at("vocab").for_members(
        [&](const std::string& token, const JsonView& id) { add_token(id, token, id.integer()); });
    const JsonView unknown = spec.get("unk_token");
    unknown_ = find_token(unknown.is_null() ? "[UNK]" : unknown.text());
    if (unknown_ < 0) {
      spec.refuse("its unk_token is not in its vocabulary");
    }
    if (pieces) {
      WordPiece::Options options{.unknown = unknown_,
                                 .continuation = spec.text("continuing_subword_prefix", "##")};
      options.max_characters = spec.has("max_input_chars_per_word")
                                   ? spec.at("max_input_chars_per_word").integer()
                                   : 100;
      pieces_.emplace(tokens(), options);
    }
  }

  void encode(std::string_view piece, TokenIds& ids) const override {
    if (pieces_) {
      pieces_->encode(piece, ids);
    } else {
      const TokenId id = find_token(piece);
      ids.push_back(id < 0 ? unknown_ : id);
    }
  }

 private:
  TokenId unknown_ = -1;
  std::optional<WordPiece> pieces_;
};

/// Returns the model's type; old files name none, their members tell it.
std::string type_of(const JsonView& spec) {
  if (spec.has("type")) {
    return spec.at("type").text();
  }
  return spec.has("merges") ? "BPE" : spec.has("unk_id") ? "Unigram" : "WordPiece";
}

}  // namespace

std::unique_ptr<HfModel> make_hf_model(const JsonView& spec, bool byte_level) {
  const std::string type = type_of(spec);
  if (type == "BPE") {
    return std::make_unique<HfBpeModel>(spec, byte_level);
  }
  if (byte_level) {
    spec.get("type").refuse("the pre-tokenizer ByteLevel is supported for BPE only");
  }
  if (type == "WordPiece" || type == "WordLevel") {
    return std::make_unique<WordModel>(spec, type == "WordPiece");
  }
  if (type == "Unigram") {
    return std::make_unique<HfUnigramModel>(spec);
  }
  spec.get("type").refuse("supported are BPE, WordPiece, Unigram and WordLevel");
}

}  // namespace mpitron::tokenizers
