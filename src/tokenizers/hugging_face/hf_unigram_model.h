#pragma once
#include <algorithm>
#include <optional>

#include "tokenizers/hugging_face/hf_model.h"
#include "tokenizers/sentencepiece/sentencepiece_model.h"
#include "tokenizers/word_piece/unigram.h"
#include "utils/error.h"

namespace mpitron::tokenizers {

/// Unigram with scores in double, as the tokenizers crate computes (SentencePiece itself uses
/// float). Unknown characters score ten less than the worst piece.
class HfUnigramModel : public HfModel {
 public:
  explicit HfUnigramModel(const JsonView& spec) {
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

}  // namespace mpitron::tokenizers
