#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizers/core/tokenizer.h"
#include "tokenizers/text/json_view.h"

namespace mpitron::tokenizers {

/// The model of a tokenizer.json: the ids of one piece.
class HfModel {
 public:
  virtual ~HfModel() = default;

  /// Appends the ids of a piece (not empty).
  virtual void encode(std::string_view piece, TokenIds& ids) const = 0;

  /// Returns the end of the part of `piece` that begins at `start`; parts are encoded on their own.
  virtual std::size_t end_of_part(std::string_view piece, std::size_t /*start*/) const {
    return piece.size();
  }

  /// [v] by id; empty for an id that no token has.
  const std::vector<std::string>& tokens() const { return tokens_; }

 protected:
  /// Puts a token at its id. Error(data) where the id is taken or absurd.
  void add_token(const JsonView& place, std::string token, Index id);
  /// Returns -1 where no token has this text.
  TokenId find_token(std::string_view token) const;

 private:
  std::vector<std::string> tokens_;
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, TokenId, TextHash, std::equal_to<>> ids_;
};

/// Makes a BPE, WordPiece, Unigram or WordLevel model. Error(data) with the JSON path for anything
/// else.
std::unique_ptr<HfModel> make_hf_model(const JsonView& spec, bool byte_level);

}  // namespace mpitron::tokenizers
