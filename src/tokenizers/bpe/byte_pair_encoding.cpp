#include "tokenizers/bpe/byte_pair_encoding.h"

#include <algorithm>
#include <cstring>
#include <queue>

#include "tokenizers/core/word_cache.h"
#include "utils/check.h"
#include "utils/error.h"
#include "utils/text/hash.h"

// Merges within one piece. Short pieces, which most are, are looked up in a cache of what they
// became; long ones keep their pairs in a heap, so that a megabyte without a blank takes no
// quadratic time.

namespace mpitron::tokenizers {
namespace {

constexpr std::uint32_t kNone = PairRanks::kNone;

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

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

/// Merges in arrays on the stack: ids_i, and ranks_i of the pair (i, i + 1), ended by kNone. The
/// time is quadratic in the length, which is at most kShortBytes. Returns the number of ids.
std::size_t BytePairEncoding::merge_short(std::string_view piece, TokenId* ids) const {
  std::array<std::uint32_t, kShortBytes> ranks;
  std::size_t size = piece.size();
  for (std::size_t i = 0; i < size; ++i) {
    ids[i] = model_.byte_ids[byte_at(piece, i)];
  }
  for (std::size_t i = 0; i + 1 < size; ++i) {
    ranks[i] = byte_ranks_[byte_at(piece, i) * 256 + byte_at(piece, i + 1)];
  }
  while (size > 1) {
    // Rank and place in one word: the smallest rank, and of equal ones the leftmost, without a
    // branch.
    std::uint64_t best = ~std::uint64_t{0};
    for (std::size_t i = 0; i + 1 < size; ++i) {
      best = std::min(best, std::uint64_t{ranks[i]} << 32 | i);
    }
    const auto rank = static_cast<std::uint32_t>(best >> 32);
    if (rank == kNone) {
      break;
    }
    const std::size_t at = best & 0xFFFFFFFF;
    --size;
    for (std::size_t i = at + 1; i < size; ++i) {
      ids[i] = ids[i + 1];
      ranks[i - 1] = ranks[i];
    }
    ids[at] = model_.merges[rank].result;
    if (at + 1 < size) {
      ranks[at] = ranks_.rank(ids[at], ids[at + 1]);
    }
    if (at > 0) {
      ranks[at - 1] = ranks_.rank(ids[at - 1], ids[at]);
    }
  }
  return size;
}

/// Merges by a queue of candidate pairs over a linked list: n log n. Error(data) where it is longer
/// than any text without a break can be.
void BytePairEncoding::merge_long(std::string_view piece, TokenIds& ids) const {
  using Place = std::int32_t;
  struct Node {
    TokenId id;
    Place previous;
    Place next;
  };
  struct Candidate {
    std::uint32_t rank;
    Place at;
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  check_piece_length(piece.size());
  const auto size = static_cast<Place>(piece.size());
  std::vector<Node> nodes;
  nodes.reserve(piece.size());
  for (Place i = 0; i < size; ++i) {
    nodes.push_back({model_.byte_ids[byte_at(piece, static_cast<std::size_t>(i))], i - 1, i + 1});
  }
  const auto node = [&](Place i) -> Node& { return nodes[static_cast<std::size_t>(i)]; };
  const auto rank_at = [&](Place i) {
    return i >= 0 && node(i).next < size ? ranks_.rank(node(i).id, node(node(i).next).id) : kNone;
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto push = [&](Place i) {
    if (const std::uint32_t rank = rank_at(i); rank != kNone) {
      queue.push({rank, i});
    }
  };
  for (Place i = 0; i < size; ++i) {
    push(i);
  }
  constexpr TokenId kGone = -1;
  while (!queue.empty()) {
    const auto [rank, at] = queue.top();
    queue.pop();
    if (node(at).id == kGone || rank_at(at) != rank) {
      continue;  // one side was merged since
    }
    const Place gone = node(at).next;
    node(at).id = model_.merges[rank].result;
    node(at).next = node(gone).next;
    node(gone).id = kGone;
    if (node(at).next < size) {
      node(node(at).next).previous = at;
    }
    push(at);
    push(node(at).previous);
  }
  for (Place i = 0; i < size; i = node(i).next) {
    ids.push_back(node(i).id);
  }
}

void BytePairEncoding::merge(std::string_view piece, TokenIds& ids) const {
  if (const auto whole = whole_pieces_.find(piece); whole != whole_pieces_.end()) {
    ids.push_back(whole->second);
    return;
  }
  if (piece.size() > kShortBytes) {
    merge_long(piece, ids);
    return;
  }
  std::array<TokenId, kShortBytes> merged;
  const std::size_t count = merge_short(piece, merged.data());
  ids.insert(ids.end(), merged.begin(), merged.begin() + static_cast<std::ptrdiff_t>(count));
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
