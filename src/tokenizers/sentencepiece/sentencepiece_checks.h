#pragma once
#include <string>

#include "tokenizers/sentencepiece/sentencepiece_model.h"

namespace mpitron::tokenizers {

/// Texts of the control pieces, which a model may rename (fields 46 to 48 of TrainerSpec).
struct SpecialNames {
  std::string bos = "<s>", eos = "</s>", pad = "<pad>";
};

/// Finds ids by text, the special pieces and those of bytes. Pieces that text can become and all
/// others are two name spaces, as in the library.
void index_pieces(SentencePieceModel& model, const SpecialNames& names);

/// Refuses kinds of models that have no encoder here (WORD, CHAR), and byte fallback without all
/// 256 pieces.
void check_model(const SentencePieceModel& model);

}  // namespace mpitron::tokenizers
