#include <algorithm>
#include <limits>
#include <unordered_map>

#include "tokenizers/bpe/tik_tokenizer.h"

// Ranks of tiktoken's files. A piece that is a token as a whole is taken at once; else neighbours
// with the smallest rank are merged, which is the same algorithm with ranks in place of merge
// rules.

namespace mpitron::tokenizers {
namespace {

using Ranks = std::unordered_map<std::string_view, std::uint32_t>;

constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();

/// Joins neighbours of a token's bytes, the lowest rank first, until two parts or a state that
/// cannot be joined is left. Returns where the parts begin, and the end.
std::vector<std::size_t> last_parts(std::string_view token, const Ranks& ranks) {
  std::vector<std::size_t> begins;  // of the parts, and the end
  for (std::size_t i = 0; i <= token.size(); ++i) {
    begins.push_back(i);
  }
  std::vector<std::uint32_t> joined;  // [i] rank of parts i and i + 1 together
  const auto rank_at = [&](std::size_t i) {
    if (i + 2 >= begins.size()) {
      return kNoRank;
    }
    const auto found = ranks.find(token.substr(begins[i], begins[i + 2] - begins[i]));
    return found == ranks.end() ? kNoRank : found->second;
  };
  for (std::size_t i = 0; i < token.size(); ++i) {
    joined.push_back(rank_at(i));
  }
  while (begins.size() > 3) {
    const auto lowest = std::min_element(joined.begin(), joined.end());
    if (*lowest == kNoRank) {
      break;
    }
    const auto at = lowest - joined.begin();
    begins.erase(begins.begin() + at + 1);
    joined.erase(lowest);
    const auto i = static_cast<std::size_t>(at);
    joined[i] = rank_at(i);
    if (i > 0) {
      joined[i - 1] = rank_at(i - 1);
    }
  }
  return begins;
}

}  // namespace

/// A token whose bytes end in two parts gets the merge of these; any other is reached by no merge
/// and becomes a whole piece. Merges come in the order of ranks.
BpeModel bpe_model_of_ranks(const std::vector<std::string>& ranks, TokenId first_id) {
  BpeModel model;
  model.tokens.resize(static_cast<std::size_t>(first_id));
  model.tokens.insert(model.tokens.end(), ranks.begin(), ranks.end());
  model.byte_ids.resize(256);
  Ranks rank_of;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    rank_of.emplace(ranks[rank], static_cast<std::uint32_t>(rank));
  }
  const auto id_of = [&](std::string_view token) {
    const auto found = rank_of.find(token);
    return found == rank_of.end() ? TokenId{-1} : first_id + static_cast<TokenId>(found->second);
  };
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::string_view token = ranks[rank];
    const TokenId id = first_id + static_cast<TokenId>(rank);
    if (token.size() == 1) {
      model.byte_ids[static_cast<unsigned char>(token[0])] = id;
      continue;
    }
    const std::vector<std::size_t> parts = last_parts(token, rank_of);
    if (parts.size() == 3) {
      model.merges.push_back({id_of(token.substr(0, parts[1])), id_of(token.substr(parts[1])), id});
    } else {
      model.whole_pieces.push_back(id);
    }
  }
  return model;
}

}  // namespace mpitron::tokenizers
