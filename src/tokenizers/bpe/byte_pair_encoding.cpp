#include "tokenizers/bpe/byte_pair_encoding.h"

#include <algorithm>
#include <cstring>

#include "tokenizers/core/word_cache.h"
#include "utils/check.h"
#include "utils/error.h"
#include "utils/text/hash.h"

// Byte-pair encoding of texts. Pieces, which are short for the most part, are looked up in a cache
// of what they became.

namespace mpitron::tokenizers {
namespace {

/// Hashes tokens and merges. Pattern, eod and whole pieces are left out for GPT-2's own pattern, so
/// that the fingerprints in existing corpora stay valid.
std::string content_hash(const BpeModel& model) {
  std::string content;
  for (const std::string& token : model.tokens) {
    content += fmt::format("{}:{}", token.size(), token);
  }
  for (const BpeModel::Merge& merge : model.merges) {
    content += fmt::format("{} {},", merge.left, merge.right);
  }
  if (model.pattern != kGpt2Pattern) {
    content +=
        fmt::format("{}:{},{}", model.pattern, model.eod, fmt::join(model.whole_pieces, " "));
  }
  return hash128_hex(content);
}

}  // namespace

BytePairEncoding::BytePairEncoding(const std::filesystem::path& vocab_file,
                                   const std::filesystem::path& merge_file)
    : BytePairEncoding(load_bpe_model(vocab_file, merge_file)) {
  paths_ = {vocab_file.string(), merge_file.string()};
}

BytePairEncoding::BytePairEncoding(BpeModel model)
    : model_(std::move(model)),
      pre_tokenizer_(model_.pattern),
      fingerprint_(content_hash(model_)),
      ranks_(model_.merges),
      byte_ranks_(256 * 256) {
  if (vocab_size() > PairRanks::kMaxTokens) {
    throw_data("a vocabulary of {} tokens is too large; at most {} are supported", vocab_size(),
               PairRanks::kMaxTokens);
  }
  for (std::size_t i = 0; i < byte_ranks_.size(); ++i) {
    byte_ranks_[i] = ranks_.rank(model_.byte_ids[i / 256], model_.byte_ids[i % 256]);
  }
  for (const TokenId id : model_.whole_pieces) {
    whole_pieces_.emplace(model_.tokens[static_cast<std::size_t>(id)], id);
  }
}

TokenizerIdentity BytePairEncoding::identity() const {
  return {"_GPT2BPETokenizer", {paths_.begin(), paths_.end()}, {}};
}

std::unique_ptr<Tokenizer::Cache> BytePairEncoding::make_cache() const {
  return std::make_unique<WordCache>();
}

/// Encodes a piece of at most kShortBytes that the cache does not know, and remembers it if it is
/// short.
std::size_t BytePairEncoding::encode_missed(std::string_view piece, WordCache& cache,
                                            TokenId* ids) const {
  const auto whole = whole_pieces_.empty() ? whole_pieces_.end() : whole_pieces_.find(piece);
  std::size_t count = 1;
  if (whole == whole_pieces_.end()) {
    count = merge_short(piece, ids);
  } else {
    ids[0] = whole->second;
  }
  if (piece.size() <= WordCache::kMaxBytes) {
    cache.insert(WordCache::key_of(piece, false), {ids, count});
  }
  return count;
}

/// Encodes all pieces of a text. The hot path, a known word of at most three ids, is a lookup and a
/// copy of fixed size.
template <class Lexer>
void BytePairEncoding::encode_pieces(Lexer& lexer, std::size_t bytes, WordCache& words,
                                     TokenIds& ids) const {
  std::size_t used = ids.size();
  // Ids are written past `used` into room that always has space for one more short piece. It is
  // filled with zeros before, so that there is not much more of it than most texts need.
  constexpr std::size_t kGrowth = 8192;
  const std::size_t step = std::min(bytes / 3, kGrowth) + kShortBytes;
  ids.resize(used + step);
  for (std::string_view piece = lexer.next(); !piece.empty(); piece = lexer.next()) {
    if (used + kShortBytes > ids.size()) [[unlikely]] {
      ids.resize(used + step);
    }
    TokenId* out = ids.data() + used;
    if (piece.size() <= WordCache::kMaxBytes) [[likely]] {
      const WordCache::Entry* known = words.find(WordCache::key_of(piece, lexer.readable(piece)));
      if (known != nullptr && known->count <= WordCache::kInlineIds) [[likely]] {
        std::memcpy(out, known->ids.data(), sizeof known->ids);
        used += known->count;
        continue;
      }
      if (known != nullptr) {
        used +=
            static_cast<std::size_t>(std::copy_n(words.ids_of(*known), known->count, out) - out);
        continue;
      }
    }
    if (piece.size() <= kShortBytes) {
      used += encode_missed(piece, words, out);
    } else {
      ids.resize(used);
      merge(piece, ids);
      used = ids.size();
    }
  }
  ids.resize(used);
}

void BytePairEncoding::encode(std::string_view text, Cache& cache, TokenIds& ids) const {
  pre_tokenizer_.visit(text, [&](auto&& lexer) {
    encode_pieces(lexer, text.size(), static_cast<WordCache&>(cache), ids);
  });
}

std::string BytePairEncoding::decode(std::span<const TokenId> ids) const {
  std::string text;
  for (const TokenId id : ids) {
    check_token_id(id, vocab_size());
    text += model_.tokens[static_cast<std::size_t>(id)];
  }
  return text;
}

std::unique_ptr<Tokenizer> make_gpt2_tokenizer(const TokenizerOptions& options) {
  if (options.vocab_file.empty() || options.merge_file.empty()) {
    throw_usage(
        "--tokenizer-type GPT2BPETokenizer needs --vocab-file vocab.json and --merge-file "
        "merges.txt; {} is missing",
        options.vocab_file.empty() ? "--vocab-file" : "--merge-file");
  }
  return std::make_unique<BytePairEncoding>(options.vocab_file, options.merge_file);
}

}  // namespace mpitron::tokenizers
