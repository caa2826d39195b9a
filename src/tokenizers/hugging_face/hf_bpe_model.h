#pragma once
#include <optional>
#include <unordered_map>

#include "tokenizers/bpe/symbol_merges.h"
#include "tokenizers/hugging_face/hf_model.h"

namespace mpitron::tokenizers {

/// BPE of a tokenizer.json over characters or, after the pre-tokenizer ByteLevel, over bytes; with
/// byte fallback, fused unknown tokens, prefixes and suffixes, and ignore_merges.
class HfBpeModel : public HfModel {
 public:
  /// Error(data) with the JSON path for dropout, and for tokens of merges that the vocabulary
  /// lacks.
  HfBpeModel(const JsonView& spec, bool byte_level);

  void encode(std::string_view piece, TokenIds& ids) const override;
  /// Ends a part in front of U+2581 where no token has that mark behind another character: without
  /// a pre-tokenizer whole texts are pieces, and words can still be cached.
  std::size_t end_of_part(std::string_view piece, std::size_t start) const override;

 private:
  using Symbols = std::vector<SymbolMerges::Symbol>;

  void read_options(const JsonView& spec);
  void read_merges(const JsonView& merges);
  void index_bytes();
  bool may_cut_at_spaces() const;
  /// Ids of the characters of a piece.
  void append_characters(std::string_view piece, Symbols& symbols) const;
  bool append_bytes(std::string_view character, Symbols& symbols) const;

  bool byte_level_;
  bool byte_fallback_ = false;
  bool fuse_unknown_ = false;
  bool ignore_merges_ = false;
  bool cuts_at_spaces_ = false;
  TokenId unknown_ = -1;
  std::string prefix_;
  std::string suffix_;
  TokenIds byte_ids_;  // [256] of ByteLevel's bytes or of the fallback's; -1 where there is none
  std::unordered_map<std::string, TokenId> whole_;  // ByteLevel with ignore_merges: ids by bytes
  std::optional<SymbolMerges> merges_;
};

}  // namespace mpitron::tokenizers
