#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizers/core/tokenizer.h"

namespace mpitron::tokenizers {

/// U+2581, which stands for a space.
inline constexpr std::string_view kMetaSpace = "\xE2\x96\x81";

/// The content of a SentencePiece .model file, as far as it decides about ids. Source:
/// sentencepiece_model.proto.
struct SentencePieceModel {
  SentencePieceModel() = default;
  SentencePieceModel(SentencePieceModel&&) = default;  // text_ids holds views of the pieces
  SentencePieceModel& operator=(SentencePieceModel&&) = default;

  enum class Kind { unigram = 1, bpe = 2, word = 3, character = 4 };
  enum class PieceType {
    normal = 1,
    unknown = 2,
    control = 3,
    user_defined = 4,
    unused = 5,
    byte = 6
  };

  struct Piece {
    std::string text;
    float score = 0;
    PieceType type = PieceType::normal;
  };

  struct Normalizer {
    std::string charsmap;
    bool add_dummy_prefix = true;
    bool remove_extra_whitespaces = true;
    bool escape_whitespaces = true;
    bool whitespace_as_suffix = false;
  };

  Kind kind = Kind::unigram;
  std::vector<Piece> pieces;  // [v] by id
  Normalizer normalizer;
  std::string denormalizer_charsmap;
  bool byte_fallback = false;
  std::string unknown_surface = " \xE2\x81\x87 ";

  TokenId unknown = -1;
  // -1 where the model has none
  TokenId bos = -1, eos = -1, pad = -1;
  std::vector<TokenId> byte_ids;  // [256] with byte_fallback

  /// Ids of the pieces that text can become: normal, user defined and unused ones.
  std::unordered_map<std::string_view, TokenId> text_ids;
};

/// Parses and checks a model. Error(data) for bytes that are none and for what is not supported.
SentencePieceModel parse_sentencepiece_model(std::string_view bytes);

/// Reads a model from a file; its errors name --tokenizer-model and the file.
SentencePieceModel load_sentencepiece_model(const std::filesystem::path& file);

}  // namespace mpitron::tokenizers
