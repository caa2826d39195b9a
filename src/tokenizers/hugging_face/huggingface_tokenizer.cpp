#include "tokenizers/hugging_face/huggingface_tokenizer.h"

#include <algorithm>

#include "tokenizers/core/word_cache.h"
#include "tokenizers/text/unicode_text.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// A Hugging Face folder as a tokenizer. The way of a text: added tokens that need no normalisation
// are cut out, the rest is normalised, the other added tokens are cut out, the pre-tokenizer cuts
// pieces, and the model encodes each, short ones through a cache.

namespace mpitron::tokenizers {
namespace {

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
