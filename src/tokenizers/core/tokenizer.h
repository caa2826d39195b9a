#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::tokenizers {

/// How the reference's data sets name a tokenizer in the description they hash for index caches.
struct TokenizerIdentity {
  std::string class_name = "_NullTokenizer";
  std::vector<std::optional<std::string>> paths{std::nullopt};  // as given; nothing is null
  std::vector<std::pair<std::string, std::string>>
      options;  // behind "tokenizer_path", in this order
};

using TokenId = std::int32_t;
using TokenIds = std::vector<TokenId>;

/// Text to token ids and back. Const methods may run on any number of threads at once, each with
/// its own Cache.
class Tokenizer {
 public:
  /// Ids with a meaning of their own; nothing where the vocabulary has no such token.
  struct SpecialIds {
    std::optional<TokenId> bos, eos, pad, cls, sep, mask;
    TokenIds sentinels;  // <extra_id_0> onwards
  };

  /// Memory of one thread between calls of the same tokenizer; its size is bounded.
  class Cache {
   public:
    virtual ~Cache() = default;
  };

  virtual ~Tokenizer() = default;

  /// The value of --tokenizer-type.
  virtual std::string_view name() const = 0;
  /// Returns the names that the reference hashes, equal to its own for the same files and options.
  virtual TokenizerIdentity identity() const = 0;
  /// Hash of the content (not of the paths): equal fingerprints give equal ids.
  virtual std::string fingerprint() const = 0;
  /// Ids are 0 .. vocab_size() - 1, before padding for the model.
  virtual Index vocab_size() const = 0;
  /// The id that ends a document.
  virtual TokenId eod() const = 0;
  virtual SpecialIds special_ids() const { return {}; }
  /// Files it was read from, for copies in checkpoints; none where it needs no file.
  virtual std::vector<std::filesystem::path> files() const = 0;

  /// A cache for one thread; only for calls of this tokenizer.
  virtual std::unique_ptr<Cache> make_cache() const { return std::make_unique<Cache>(); }

  /// Appends the ids of `text`. Special tokens in the text count as ordinary text, except where the
  /// reference's tokenizer of this type knows them (SentencePieceTokenizer, HuggingFaceTokenizer).
  /// Error(data) for invalid UTF-8.
  virtual void encode(std::string_view text, Cache& cache, TokenIds& ids) const = 0;

  /// Encodes without ids that only whole texts get, in front and behind: for parts of a text, and
  /// for chat templates, which write those tokens themselves.
  virtual void encode_part(std::string_view text, Cache& cache, TokenIds& ids) const {
    encode(text, cache, ids);
  }

  /// Returns the bytes of the ids, which need not be whole UTF-8 characters. Error(data) for an id
  /// outside the vocabulary.
  virtual std::string decode(std::span<const TokenId> ids) const = 0;

  /// Returns whether an id is a mark (a begin, an end, a role) and no text.
  virtual bool is_special(TokenId id) const;
  /// Returns the bytes that an id adds to a text behind other ids; none for marks.
  virtual std::string bytes_of(TokenId id) const;

  /// Encodes with a cache of its own, for single calls.
  TokenIds encode(std::string_view text) const;
  TokenIds encode_part(std::string_view text) const;
};

/// Throws Error(data) unless 0 <= id < vocab_size.
void check_token_id(TokenId id, Index vocab_size);

/// Throws Error(data) for a word (text whose bytes are merged without a break) that is longer than
/// those of any language: merging takes many times its memory.
void check_piece_length(std::size_t bytes);

/// Options that choose a tokenizer, named after Megatron's flags.
struct TokenizerOptions {
  std::string type = "GPT2BPETokenizer";
  std::string vocab_file;
  std::string merge_file;
  std::string tokenizer_model;  // a file; of HuggingFaceTokenizer and SFTTokenizer also a folder
  Index vocab_size = 0;         // NullTokenizer, TikTokenizer; 0: not given
  Index vocab_extra_ids = 0;    // BertWordPiece*, SentencePieceTokenizer: <extra_id_i>
  std::string tiktoken_pattern;
  Index tiktoken_num_special_tokens = 1000;
  std::vector<std::string> tiktoken_special_tokens;
  std::string sft_tokenizer_prompt_format = "nemotron-h-aligned";
};

}  // namespace mpitron::tokenizers
