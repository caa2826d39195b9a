#pragma once
#include <array>
#include <filesystem>
#include <unordered_map>

#include "tokenizers/bpe/bpe_model.h"
#include "tokenizers/bpe/pair_ranks.h"
#include "tokenizers/core/tokenizer.h"
#include "tokenizers/split/pre_tokenizer.h"

namespace mpitron::tokenizers {

class WordCache;

/// Byte-level BPE: the pre-tokenizer's pieces, each merged pair by pair in the order of the ranks.
/// As such it is GPT-2's; others derive from it. Words of up to 16 bytes are remembered in the
/// thread's cache (12 MiB). Source: Sennrich et al. 2016; GPT-2's encoder.py.
class BytePairEncoding : public Tokenizer {
 public:
  /// Reads GPT-2's files; errors as load_bpe_model.
  BytePairEncoding(const std::filesystem::path& vocab_file,
                   const std::filesystem::path& merge_file);
  /// Takes a model that another format was read into. Error(data) for more than
  /// PairRanks::kMaxTokens tokens.
  explicit BytePairEncoding(BpeModel model);
  BytePairEncoding(const BytePairEncoding&) = delete;
  BytePairEncoding& operator=(const BytePairEncoding&) = delete;

  std::string_view name() const override { return "GPT2BPETokenizer"; }
  TokenizerIdentity identity() const override;
  std::string fingerprint() const override { return fingerprint_; }
  Index vocab_size() const override { return static_cast<Index>(model_.tokens.size()); }
  TokenId eod() const override { return model_.eod; }
  SpecialIds special_ids() const override { return {.eos = model_.eod}; }
  std::vector<std::filesystem::path> files() const override {
    return {paths_.begin(), paths_.end()};
  }
  std::unique_ptr<Cache> make_cache() const override;
  using Tokenizer::encode;
  void encode(std::string_view text, Cache& cache, TokenIds& ids) const override;
  std::string decode(std::span<const TokenId> ids) const override;

  /// Appends the ids of one piece, past any cache.
  void merge(std::string_view piece, TokenIds& ids) const;

 protected:
  const BpeModel& model() const { return model_; }

 private:
  static constexpr std::size_t kShortBytes = 64;

  std::size_t merge_short(std::string_view piece, TokenId* ids) const;
  void merge_long(std::string_view piece, TokenIds& ids) const;
  std::size_t encode_missed(std::string_view piece, WordCache& cache, TokenId* ids) const;
  template <class Lexer>
  void encode_pieces(Lexer& lexer, std::size_t bytes, WordCache& words, TokenIds& ids) const;

  BpeModel model_;
  PreTokenizer pre_tokenizer_;
  std::vector<std::string> paths_;
  std::string fingerprint_;
  PairRanks ranks_;
  std::vector<std::uint32_t> byte_ranks_;                       // [256 * 256] rank of two bytes
  std::unordered_map<std::string_view, TokenId> whole_pieces_;  // views of the model's tokens
};

/// GPT2BPETokenizer: --vocab-file and --merge-file.
std::unique_ptr<Tokenizer> make_gpt2_tokenizer(const TokenizerOptions& options);

}  // namespace mpitron::tokenizers
