#pragma once
#include <functional>
#include <memory>
#include <unordered_map>

#include "tokenizers/core/tokenizer.h"
#include "tokenizers/hugging_face/hf_added_tokens.h"
#include "tokenizers/hugging_face/hf_model.h"
#include "tokenizers/hugging_face/hf_steps.h"

namespace mpitron::tokenizers {

/// A Hugging Face tokenizer.json, with what tokenizer_config.json beside it says about special
/// tokens. As in Megatron, texts get what the post-processor adds, and added tokens are found in
/// texts. Sources: the library tokenizers; Megatron's _HuggingFaceTokenizer.
class HuggingFaceTokenizer : public Tokenizer {
 public:
  /// `path`: a tokenizer.json or the folder it lies in. Error(data) with file and JSON path for a
  /// part that is not supported.
  explicit HuggingFaceTokenizer(const std::filesystem::path& path);

  std::string_view name() const override { return "HuggingFaceTokenizer"; }
  TokenizerIdentity identity() const override;
  std::string fingerprint() const override { return fingerprint_; }
  Index vocab_size() const override { return static_cast<Index>(tokens_.size()); }
  /// The eos_token; Error(data) where tokenizer_config.json names none.
  TokenId eod() const override;
  SpecialIds special_ids() const override { return special_; }
  std::vector<std::filesystem::path> files() const override { return files_; }
  std::unique_ptr<Cache> make_cache() const override;
  using Tokenizer::encode;
  void encode(std::string_view text, Cache& cache, TokenIds& ids) const override;
  std::string decode(std::span<const TokenId> ids) const override;
  /// Counts added tokens that the file calls special, too.
  bool is_special(TokenId id) const override { return is_special_[static_cast<std::size_t>(id)]; }
  std::string bytes_of(TokenId id) const override;

  /// Encodes without what the post-processor adds.
  using Tokenizer::encode_part;
  void encode_part(std::string_view text, Cache& cache, TokenIds& ids) const override;

  /// The id of a token's text, added or of the model.
  std::optional<TokenId> find(std::string_view token) const;
  /// The text of a token; Error(data) for an id outside the vocabulary.
  const std::string& token(TokenId id) const {
    check_token_id(id, vocab_size());
    return tokens_[static_cast<std::size_t>(id)];
  }
  /// Returns the ids that the post-processor puts in front.
  const TokenIds& prefix() const { return post_processor_.before; }
  /// The file chat_template.jinja, else `chat_template` of tokenizer_config.json (of several that
  /// which is called default); empty where there is none.
  const std::string& chat_template() const { return chat_template_; }

 private:
  class PieceCache;

  void read_definition(const JsonView& root);
  void read_config(const JsonView& config);
  void note_special_tokens();
  void read_chat_template(const std::filesystem::path& folder);
  void encode_segment(std::string_view text, bool at_start, PieceCache& cache, TokenIds& ids) const;
  void encode_pieces(PieceCache& cache, TokenIds& ids) const;

  std::filesystem::path path_;
  std::vector<std::filesystem::path> files_;
  std::string fingerprint_;
  TextRule normalizer_;
  HfPreTokenizer pre_tokenizer_;
  std::unique_ptr<const HfModel> model_;
  std::unique_ptr<const HfAddedTokens> added_;
  HfPostProcessor post_processor_;
  TokenRule decoder_;
  std::vector<std::string> tokens_;  // by id
  SpecialIds special_;
  std::string chat_template_;
  std::vector<bool> is_special_;  // by id
  bool cleans_up_ = false;
};

}  // namespace mpitron::tokenizers
