#include <algorithm>
#include <charconv>

#include <simdjson.h>

#include "tokenizers/bpe/tik_tokenizer.h"
#include "tokenizers/text/byte_alphabet.h"
#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/utf8.h"

// Files of tiktoken's vocabularies: tokens in the order of their ranks.

namespace mpitron::tokenizers {
namespace {

namespace dom = simdjson::dom;

using Path = std::filesystem::path;

/// Returns the bytes of a token; `place` names file and entry for the error.
std::string bytes_or_throw(std::string_view base64, const std::string& place) {
  std::optional<std::string> bytes = decode_base64(base64);
  if (!bytes || bytes->empty()) {
    throw_data("{}: base64 of at least one byte is expected, found \"{:.60}\"", place,
               replace_invalid_utf8(base64));
  }
  return std::move(*bytes);
}

/// Reads Megatron's form, whose ranks must be in order and begin with the bytes in order.
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

/// Reads OpenAI's form; only the order of ranks is required, bytes may be anywhere.
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

/// Requires every byte as a token, and no token twice: its rank would be ambiguous.
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

}  // namespace mpitron::tokenizers
