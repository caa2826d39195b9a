#include "tokenizers/hugging_face/huggingface_tokenizer.h"

#include <algorithm>

#include "tokenizers/core/word_cache.h"
#include "tokenizers/text/unicode_text.h"
#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/hash.h"
#include "utils/text/utf8.h"

// A Hugging Face folder as a tokenizer. The way of a text: added tokens that need no normalisation
// are cut out, the rest is normalised, the other added tokens are cut out, the pre-tokenizer cuts
// pieces, and the model encodes each, short ones through a cache.

namespace mpitron::tokenizers {
namespace {

/// Returns the text of a special token: a string, or an object with the string in it.
std::string token_text(const JsonView& value) {
  return value.is_null() ? "" : value.is_object() ? value.at("content").text() : value.text();
}

/// Returns the first byte that is not part of valid UTF-8, or npos.
std::size_t find_invalid(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const int bytes =
        static_cast<signed char>(text[at]) >= 0 ? 1 : decode_utf8(text.substr(at)).bytes;
    if (bytes == 0) {
      return at;
    }
    at += static_cast<std::size_t>(bytes);
  }
  return std::string_view::npos;
}

}  // namespace

/// Words with their ids, and two buffers that keep their memory between texts.
class HuggingFaceTokenizer::PieceCache : public Cache {
 public:
  WordCache words;
  TextPieces pieces;
  std::string normalized;
};

/// tokenizer_config.json is read after special_tokens_map.json and wins where both name a token.
HuggingFaceTokenizer::HuggingFaceTokenizer(const std::filesystem::path& path) : path_(path) {
  const bool is_folder = std::filesystem::is_directory(path);
  const std::filesystem::path file = is_folder ? path / "tokenizer.json" : path;
  if (!std::filesystem::is_regular_file(file)) {
    throw_data(
        "--tokenizer-model {}: no such file; a tokenizer.json, or a folder with one, is expected "
        "(names of models on a hub are not looked up: download the folder first)",
        file.string());
  }
  std::string content;
  const auto read = [&](const std::filesystem::path& name, auto&& handle) {
    try {
      const std::string text = read_file(name);
      files_.push_back(name);
      content += hash128_hex(text);
      const JsonDocument document(text);
      handle(document.root());
    } catch (const Error& error) {
      throw_data("--tokenizer-model {}: {}", name.string(), error.what());
    }
  };
  read(file, [&](const JsonView& root) { read_definition(root); });
  for (const char* name : {"special_tokens_map.json", "tokenizer_config.json"}) {
    if (std::filesystem::is_regular_file(file.parent_path() / name)) {
      read(file.parent_path() / name, [&](const JsonView& root) { read_config(root); });
    }
  }
  fingerprint_ = hash128_hex(content);
  note_special_tokens();
  read_chat_template(file.parent_path());
}

/// The order matters: the model must know whether pieces are bytes, added tokens are normalised,
/// and added tokens may take ids of the model's vocabulary over.
void HuggingFaceTokenizer::read_definition(const JsonView& root) {
  normalizer_ = make_hf_normalizer(root.get("normalizer"));
  pre_tokenizer_ = make_hf_pre_tokenizer(root.get("pre_tokenizer"));
  model_ = make_hf_model(root.at("model"), pre_tokenizer_.byte_level);
  added_ = std::make_unique<HfAddedTokens>(root.get("added_tokens"), normalizer_);
  post_processor_ = make_hf_post_processor(root.get("post_processor"));
  decoder_ = make_hf_decoder(root.get("decoder"));
  tokens_ = model_->tokens();
  for (const HfAddedTokens::Token& token : added_->tokens()) {
    const auto at = static_cast<std::size_t>(token.id);
    tokens_.resize(std::max(tokens_.size(), at + 1));
    tokens_[at] = token.content;
  }
  for (const TokenIds* ids : {&post_processor_.before, &post_processor_.after}) {
    for (const TokenId id : *ids) {
      check_token_id(id, vocab_size());
    }
  }
}

/// Members that are absent leave what an earlier file said.
void HuggingFaceTokenizer::read_config(const JsonView& config) {
  const auto read = [&](const char* key, std::optional<TokenId>& id) {
    if (config.has(key)) {
      id = find(token_text(config.get(key)));
    }
  };
  read("bos_token", special_.bos);
  read("eos_token", special_.eos);
  read("pad_token", special_.pad);
  read("cls_token", special_.cls);
  read("sep_token", special_.sep);
  read("mask_token", special_.mask);
  cleans_up_ = config.boolean("clean_up_tokenization_spaces", cleans_up_);
  const JsonView chat = config.get("chat_template");
  if (chat.is_text()) {
    chat_template_ = chat.text();
  } else if (chat.is_array()) {
    chat.for_elements([&](const JsonView& named) {
      if (named.text("name", "") == "default") {
        chat_template_ = named.at("template").text();
      }
    });
  }
}

void HuggingFaceTokenizer::read_chat_template(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "chat_template.jinja";
  if (std::filesystem::is_regular_file(file)) {
    chat_template_ = read_file(file);
    files_.push_back(file);
  }
}

std::optional<TokenId> HuggingFaceTokenizer::find(std::string_view token) const {
  const auto found = std::find(tokens_.begin(), tokens_.end(), token);
  return found == tokens_.end() || token.empty()
             ? std::nullopt
             : std::optional(static_cast<TokenId>(found - tokens_.begin()));
}

TokenizerIdentity HuggingFaceTokenizer::identity() const {
  return {"_HuggingFaceTokenizer", {path_.string()}, {}};
}

TokenId HuggingFaceTokenizer::eod() const {
  if (!special_.eos) {
    throw_data(
        "--tokenizer-model {}: no token ends a document; name one as \"eos_token\" in the "
        "tokenizer_config.json beside tokenizer.json",
        path_.string());
  }
  return *special_.eos;
}

std::unique_ptr<Tokenizer::Cache> HuggingFaceTokenizer::make_cache() const {
  return std::make_unique<PieceCache>();
}

void HuggingFaceTokenizer::encode_pieces(PieceCache& cache, TokenIds& ids) const {
  const TextPieces& pieces = cache.pieces;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string_view piece = pieces[i];
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t end = model_->end_of_part(piece, at);
      append_cached(cache.words, piece.substr(at, end - at), at == 0 && pieces.readable(i), ids,
                    [&](std::string_view part, TokenIds& out) { model_->encode(part, out); });
      at = end;
    }
  }
}

/// Encodes text between two added tokens; `at_start` tells rules that treat a text's begin
/// differently.
void HuggingFaceTokenizer::encode_segment(std::string_view text, bool at_start, PieceCache& cache,
                                          TokenIds& ids) const {
  cache.normalized = text;
  if (normalizer_) {
    normalizer_(cache.normalized);
  }
  added_->split(
      cache.normalized, at_start, true,
      [&](std::string_view part, bool first) {
        cache.pieces.reset(part, first);
        if (pre_tokenizer_.cut) {
          pre_tokenizer_.cut(cache.pieces);
        }
        encode_pieces(cache, ids);
      },
      [&](TokenId id) { ids.push_back(id); });
}

void HuggingFaceTokenizer::encode_part(std::string_view text, Cache& cache, TokenIds& ids) const {
  if (const std::size_t at = find_invalid(text); at != std::string_view::npos) {
    throw_data("text is not valid UTF-8 at byte {} (0x{:02X})", at,
               static_cast<unsigned>(static_cast<unsigned char>(text[at])));
  }
  added_->split(
      text, true, false,
      [&](std::string_view part, bool first) {
        encode_segment(part, first, static_cast<PieceCache&>(cache), ids);
      },
      [&](TokenId id) { ids.push_back(id); });
}

void HuggingFaceTokenizer::encode(std::string_view text, Cache& cache, TokenIds& ids) const {
  ids.insert(ids.end(), post_processor_.before.begin(), post_processor_.before.end());
  encode_part(text, cache, ids);
  ids.insert(ids.end(), post_processor_.after.begin(), post_processor_.after.end());
}

void HuggingFaceTokenizer::note_special_tokens() {
  is_special_.resize(tokens_.size());
  for (const HfAddedTokens::Token& token : added_->tokens()) {
    is_special_[static_cast<std::size_t>(token.id)] = token.special;
  }
  for (const auto id :
       {special_.bos, special_.eos, special_.pad, special_.cls, special_.sep, special_.mask}) {
    if (id) {
      is_special_[static_cast<std::size_t>(*id)] = true;
    }
  }
}

/// A part of a character decodes to U+FFFD, but tokens of single bytes name their byte.
std::string HuggingFaceTokenizer::bytes_of(TokenId id) const {
  const std::string text = Tokenizer::bytes_of(id);
  const int byte = text == "\xEF\xBF\xBD" ? fallback_byte(token(id)) : -1;
  return byte >= 0 ? std::string(1, static_cast<char>(byte)) : text;
}

std::string HuggingFaceTokenizer::decode(std::span<const TokenId> ids) const {
  std::vector<std::string> tokens;
  for (const TokenId id : ids) {
    check_token_id(id, vocab_size());
    tokens.push_back(tokens_[static_cast<std::size_t>(id)]);
  }
  std::string text;
  if (decoder_) {
    decoder_(tokens);
  }
  for (const std::string& token : tokens) {
    text += (decoder_ || text.empty() ? "" : " ") + token;
  }
  if (cleans_up_) {
    clean_up_spaces(text);
  }
  return text;
}

}  // namespace mpitron::tokenizers
