#include "tokenizers/hugging_face/hf_model.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "tokenizers/hugging_face/hf_bpe_model.h"
#include "tokenizers/sentencepiece/sentencepiece_model.h"
#include "tokenizers/word_piece/unigram.h"
#include "tokenizers/word_piece/word_piece.h"
#include "utils/error.h"

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

/// Unigram with scores in double, as the tokenizers crate computes (SentencePiece itself uses
/// float). Unknown characters score ten less than the worst piece.
class UnigramModel : public HfModel {
 public:
  explicit UnigramModel(const JsonView& spec) {
    std::vector<double> scores;
    spec.at("vocab").for_elements([&](const JsonView& entry) {
      add_token(entry, entry.at(Index{0}).text(), static_cast<Index>(scores.size()));
      scores.push_back(entry.at(1).number());
    });
    if (spec.has("unk_id")) {
      const Index id = spec.at("unk_id").integer();
      if (id < 0 || id >= static_cast<Index>(scores.size())) {
        spec.refuse("its vocabulary is empty or its unk_id is outside");
      }
      unknown_ = static_cast<TokenId>(id);
    }
    if (scores.empty()) {
      spec.refuse("its vocabulary is empty or its unk_id is outside");
    }
    std::vector<Unigram<double>::Piece> pieces;
    for (std::size_t id = 0; id < scores.size(); ++id) {
      pieces.push_back({tokens()[id], scores[id], static_cast<TokenId>(id)});
    }
    constexpr double kUnknownPenalty = 10;
    unigram_.emplace(pieces, unknown_,
                     *std::min_element(scores.begin(), scores.end()) - kUnknownPenalty);
    if (spec.boolean("byte_fallback", false)) {
      for (int byte = 0; byte < 256; ++byte) {
        byte_ids_.push_back(find_token(fmt::format("<0x{:02X}>", byte)));
      }
    }
  }

  /// Joins unknown steps of the path that follow each other before it looks for their bytes.
  void encode(std::string_view piece, TokenIds& ids) const override {
    Unigram<double>::Workspace workspace;
    std::vector<Unigram<double>::Step> path;
    unigram_->best_path(piece, 0, workspace, path);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < path.size();) {
      std::size_t end = begin + path[i].bytes;
      const bool unknown = path[i].id == unknown_;
      const TokenId id = path[i++].id;
      while (unknown && i < path.size() && path[i].id == unknown_) {
        end += path[i++].bytes;
      }
      if (unknown) {
        append_unknown(piece.substr(begin, end - begin), ids);
      } else {
        ids.push_back(id);
      }
      begin = end;
    }
  }

 private:
  static constexpr TokenId kNoUnknown = -1;

  /// Tries the text as a token, then its bytes, then the unknown token; Error(data) without one.
  void append_unknown(std::string_view text, TokenIds& ids) const {
    if (const TokenId id = find_token(text); id >= 0) {
      ids.push_back(id);
      return;
    }
    const auto id_of = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
    if (!byte_ids_.empty() &&
        std::all_of(text.begin(), text.end(), [&](char byte) { return id_of(byte) >= 0; })) {
      for (const char byte : text) {
        ids.push_back(id_of(byte));
      }
      return;
    }
    if (unknown_ == kNoUnknown) {
      throw_data("\"{}\" cannot be encoded: the Unigram model has no unk_id", text);
    }
    ids.push_back(unknown_);
  }

  TokenId unknown_ = kNoUnknown;
  std::optional<Unigram<double>> unigram_;
  TokenIds byte_ids_;
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
    return std::make_unique<UnigramModel>(spec);
  }
  spec.get("type").refuse("supported are BPE, WordPiece, Unigram and WordLevel");
}

}  // namespace mpitron::tokenizers
