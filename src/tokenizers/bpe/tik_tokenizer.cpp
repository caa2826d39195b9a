#include "tokenizers/bpe/tik_tokenizer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>
#include <unordered_map>

#include <simdjson.h>

#include "tokenizers/text/byte_alphabet.h"
#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/utf8.h"

// Ranks of tiktoken's files. A piece that is a token as a whole is taken at once; else neighbours
// with the smallest rank are merged, which is the same algorithm with ranks in place of merge
// rules.

namespace mpitron::tokenizers {

namespace {

/// A special token of a published vocabulary, by its distance from the first id behind the ranks.
struct Special {
  TokenId behind;  // id - number of ranks
  std::string_view text;
};

/// Special tokens as tiktoken_ext/openai_public.py has them, and of Llama 3 those that its prompts
/// use.
constexpr Special kGpt2Specials[] = {{0, kEndOfText}};
constexpr Special kCl100kSpecials[] = {{1, kEndOfText},
                                       {2, "<|fim_prefix|>"},
                                       {3, "<|fim_middle|>"},
                                       {4, "<|fim_suffix|>"},
                                       {20, "<|endofprompt|>"}};
constexpr Special kO200kSpecials[] = {{1, kEndOfText}, {20, "<|endofprompt|>"}};
constexpr Special kLlama3Specials[] = {
    {0, "<|begin_of_text|>"}, {1, "<|end_of_text|>"}, {6, "<|start_header_id|>"},
    {7, "<|end_header_id|>"}, {9, "<|eot_id|>"},      {255, "<|reserved_special_token_250|>"}};

/// A value of --tiktoken-pattern: how text is split, and which special tokens there are.
struct Scheme {
  std::string_view name;  // the value of --tiktoken-pattern
  std::string_view pattern;
  std::span<const Special> specials;  // empty: Megatron's, in front of the ranks
  std::string_view eod;
};

/// Megatron's defaults: names that must be among the special tokens, and a vocabulary of 2^17.
constexpr std::string_view kMegatronEod = "</s>";
constexpr std::string_view kMegatronSpecials[] = {"<unk>", "<s>", kMegatronEod};
constexpr Index kMegatronVocabSize = Index{1} << 17;

constexpr Scheme kSchemes[] = {
    {"v1", kTiktokenV1Pattern, {}, kMegatronEod},
    {"v2", kTiktokenV2Pattern, {}, kMegatronEod},
    {"gpt2", kGpt2Pattern, kGpt2Specials, kEndOfText},
    {"cl100k", kCl100kPattern, kCl100kSpecials, kEndOfText},
    {"o200k", kO200kPattern, kO200kSpecials, kEndOfText},
    {"llama3", kCl100kPattern, kLlama3Specials, "<|end_of_text|>"},
};

/// Returns the scheme that --tiktoken-pattern names; Error(usage) tells the allowed words.
const Scheme& scheme_of(const TokenizerOptions& options) {
  for (const Scheme& scheme : kSchemes) {
    if (options.tiktoken_pattern == scheme.name) {
      return scheme;
    }
  }
  constexpr std::string_view kAllowed =
      "v1 and v2 (Megatron's), gpt2, cl100k, o200k and llama3 (as published)";
  if (options.tiktoken_pattern.empty()) {
    throw_usage("--tokenizer-type TikTokenizer needs --tiktoken-pattern: allowed are {}", kAllowed);
  }
  throw_usage("--tiktoken-pattern {}: allowed are {}", options.tiktoken_pattern, kAllowed);
}

/// Returns the texts of the special tokens in Megatron's order: those given, then numbered ones.
std::vector<std::string> megatron_specials(const TokenizerOptions& options) {
  std::vector<std::string> names = options.tiktoken_special_tokens;
  if (names.empty()) {
    names.assign(std::begin(kMegatronSpecials), std::end(kMegatronSpecials));
  }
  for (const std::string_view needed : kMegatronSpecials) {
    if (std::find(names.begin(), names.end(), needed) == names.end()) {
      throw_usage("--tiktoken-special-tokens {}: must include <unk> <s> </s>; {} is missing",
                  fmt::join(names, " "), needed);
    }
  }
  const Index count = options.tiktoken_num_special_tokens;
  if (count < static_cast<Index>(names.size())) {
    throw_usage("--tiktoken-num-special-tokens {}: there are {} special tokens; give {} or more",
                count, names.size(), names.size());
  }
  while (static_cast<Index>(names.size()) < count) {
    names.push_back(fmt::format("<SPECIAL_{}>", names.size()));
  }
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) {
    throw_usage("--tiktoken-special-tokens: a name appears twice");
  }
  return names;
}

/// Puts the special tokens in front of the ranks. The file may hold more ranks than --vocab-size
/// leaves room for, the others are cut off as the reference does; fewer are an error.
BpeModel megatron_model(const TokenizerOptions& options) {
  const Index vocab_size = options.vocab_size > 0 ? options.vocab_size : kMegatronVocabSize;
  const Index count = options.tiktoken_num_special_tokens;
  if (count >= vocab_size) {
    throw_usage("--tiktoken-num-special-tokens {} must be less than --vocab-size {}", count,
                vocab_size);
  }
  const std::vector<std::string> specials = megatron_specials(options);
  const auto ranks = load_tiktoken_ranks(options.tokenizer_model, vocab_size - count);
  const auto found = static_cast<Index>(ranks.size());
  if (found < vocab_size - count) {
    throw_data(
        "--tokenizer-model {}: has {} tokens, but --vocab-size {} needs {} besides the {} special "
        "ones; give --vocab-size {}",
        options.tokenizer_model, found, vocab_size, vocab_size - count, count, found + count);
  }
  BpeModel model = bpe_model_of_ranks(ranks, static_cast<TokenId>(count));
  std::copy(specials.begin(), specials.end(), model.tokens.begin());
  return model;
}

/// Puts the special tokens behind the ranks; gaps between them are named as unused.
BpeModel published_model(const TokenizerOptions& options, const Scheme& scheme) {
  if (!options.tiktoken_special_tokens.empty()) {
    throw_usage("--tiktoken-special-tokens goes with --tiktoken-pattern v1 or v2; {} has its own",
                scheme.name);
  }
  const auto ranks = load_tiktoken_ranks(options.tokenizer_model, PairRanks::kMaxTokens);
  BpeModel model = bpe_model_of_ranks(ranks, 0);
  for (const Special& special : scheme.specials) {
    while (model.tokens.size() < ranks.size() + static_cast<std::size_t>(special.behind)) {
      model.tokens.push_back(fmt::format("<|unused_{}|>", model.tokens.size()));
    }
    model.tokens.emplace_back(special.text);
  }
  const auto size = static_cast<Index>(model.tokens.size());
  if (options.vocab_size > 0 && options.vocab_size != size) {
    throw_usage("--vocab-size {}: --tokenizer-model {} has {} tokens, special ones included",
                options.vocab_size, options.tokenizer_model, size);
  }
  return model;
}

/// Writes what Python's str() makes of a list of strings: the reference hashes that text.
std::string python_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", word);
  }
  return words.empty() ? "None" : fmt::format("[{}]", text);
}

/// Returns the class, files and parameters by which the reference's caches know a tokenizer.
TokenizerIdentity identity_of(const TokenizerOptions& options, const Scheme& scheme) {
  return {"CustomTikTokenizer",
          {options.tokenizer_model},
          {{"pattern", std::string(scheme.pattern)},
           {"vocab_size", options.vocab_size > 0 ? std::to_string(options.vocab_size) : "None"},
           {"num_special_tokens", std::to_string(options.tiktoken_num_special_tokens)},
           {"special_tokens", python_list(options.tiktoken_special_tokens)}}};
}

}  // namespace

std::unique_ptr<Tokenizer> make_tik_tokenizer(const TokenizerOptions& options) {
  if (options.tokenizer_model.empty()) {
    throw_usage(
        "--tokenizer-type TikTokenizer needs --tokenizer-model: a .json list of ranks as Megatron "
        "reads it, or a .tiktoken file");
  }
  const Scheme& scheme = scheme_of(options);
  BpeModel model =
      scheme.specials.empty() ? megatron_model(options) : published_model(options, scheme);
  model.pattern = scheme.pattern;
  // The special token, which comes after any ordinary one of the same bytes, or before all of them.
  const auto specials_end = scheme.specials.empty()
                                ? model.tokens.begin() + options.tiktoken_num_special_tokens
                                : model.tokens.end();
  const auto last = std::find(std::reverse_iterator(specials_end), model.tokens.rend(), scheme.eod);
  model.eod = static_cast<TokenId>(model.tokens.rend() - last - 1);
  return std::make_unique<TikTokenizer>(std::move(model), identity_of(options, scheme));
}

namespace {
namespace dom = simdjson::dom;

using Path = std::filesystem::path;
using Ranks = std::unordered_map<std::string_view, std::uint32_t>;

constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();

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
