#include "tokenizers/bpe/tiktoken_file.h"

#include <array>
#include <charconv>
#include <limits>
#include <unordered_map>

#include <simdjson.h>

#include "tokenizers/text/base64.h"
#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/utf8.h"

namespace mpitron::tokenizers {
namespace {
namespace dom = simdjson::dom;

using Path = std::filesystem::path;
using Ranks = std::unordered_map<std::string_view, std::uint32_t>;

constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();

std::string bytes_or_throw(std::string_view base64, const std::string& place) {
  std::optional<std::string> bytes = decode_base64(base64);
  if (!bytes || bytes->empty()) {
    throw_data("{}: base64 of at least one byte is expected, found \"{:.60}\"", place,
               replace_invalid_utf8(base64));
  }
  return std::move(*bytes);
}

std::vector<std::string> parse_json(const Path& file, std::size_t most) {
  const std::string name = "--tokenizer-model " + file.string();
  const MappedFile mapped(file);
  dom::parser parser;
  dom::array list;
  const std::string_view text = mapped.text();
  if (parser.parse(text.empty() ? "" : text.data(), text.size()).get(list) != simdjson::SUCCESS) {
    throw_data("{}: a JSON list of {{\"rank\", \"token_bytes\", \"token_str\"}} is expected", name);
  }
  std::vector<std::string> tokens;
  for (const dom::element entry : list) {
    if (tokens.size() == most) {
      break;
    }
    const std::string place = fmt::format("{}: entry {}", name, tokens.size());
    std::uint64_t rank = 0;
    std::string_view base64;
    dom::object object;
    if (entry.get(object) != simdjson::SUCCESS || object["rank"].get(rank) != simdjson::SUCCESS ||
        object["token_bytes"].get(base64) != simdjson::SUCCESS) {
      throw_data("{}: \"rank\" (an integer) and \"token_bytes\" (base64) are expected", place);
    }
    if (rank != tokens.size()) {
      throw_data("{}: has rank {}; the ranks must be 0, 1, 2, ... in order", place, rank);
    }
    tokens.push_back(bytes_or_throw(base64, place));
    const bool is_byte = tokens.back() == std::string(1, static_cast<char>(rank));
    if (rank < 256 && !is_byte) {
      throw_data("{}: the first 256 tokens must be the bytes 0x00 to 0xFF in order", place);
    }
  }
  return tokens;
}

std::vector<std::string> parse_lines(const Path& file, std::size_t most) {
  const MappedFile mapped(file);
  std::string_view rest = mapped.text();
  std::vector<std::string> tokens;
  for (Index line = 1; !rest.empty() && tokens.size() < most; ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    text.remove_suffix(text.ends_with('\r') ? 1 : 0);
    if (text.empty()) {
      continue;
    }
    const std::string place = fmt::format("--tokenizer-model {}:{}", file.string(), line);
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view number = text.substr(std::min(space + 1, text.size()));
    std::uint64_t rank = 0;
    const auto [stop, error] = std::from_chars(number.begin(), number.end(), rank);
    if (error != std::errc() || stop != number.end() || rank != tokens.size()) {
      throw_data("{}: a token in base64, a space and rank {} are expected, found \"{:.60}\"", place,
                 tokens.size(), replace_invalid_utf8(text));
    }
    tokens.push_back(bytes_or_throw(text.substr(0, space), place));
  }
  return tokens;
}

void check_tokens(const std::vector<std::string>& tokens, const Path& file) {
  Ranks seen;
  for (const std::string& token : tokens) {
    const auto rank = static_cast<std::uint32_t>(seen.size());
    if (const auto [other, added] = seen.emplace(token, rank); !added) {
      throw_data("--tokenizer-model {}: ranks {} and {} have the same bytes", file.string(),
                 other->second, rank);
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    if (!seen.contains(std::string(1, static_cast<char>(byte)))) {
      throw_data("--tokenizer-model {}: has no token for byte 0x{:02X}", file.string(), byte);
    }
  }
}

// Joins neighbours, the lowest rank first, until two parts or a state that cannot be joined is
// left: the sizes of the parts.
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

std::vector<std::string> load_tiktoken_ranks(const Path& file, Index most) {
  if (!std::filesystem::is_regular_file(file)) {
    throw_data("--tokenizer-model {}: no such file", file.string());
  }
  const auto limit = static_cast<std::size_t>(most);
  std::vector<std::string> tokens =
      file.extension() == ".json" ? parse_json(file, limit) : parse_lines(file, limit);
  check_tokens(tokens, file);
  return tokens;
}

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
