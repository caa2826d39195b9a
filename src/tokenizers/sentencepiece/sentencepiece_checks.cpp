#include "tokenizers/sentencepiece/sentencepiece_checks.h"

#include <charconv>
#include <cmath>

#include "tokenizers/sentencepiece/sentencepiece_model.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// Checks of a model's pieces, which are indexed by what they stand for.

namespace mpitron::tokenizers {
namespace {

using Model = SentencePieceModel;
using PieceType = Model::PieceType;

/// Returns the byte of a piece like <0x0A>; Error(data) for any other form.
int byte_of(std::string_view piece) {
  unsigned value = 256;
  if (piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>')) {
    const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
    if (error != std::errc() || end != piece.data() + 5) {
      value = 256;
    }
  }
  if (value > 255) {
    throw_data("byte piece \"{:.20}\" is not of the form <0x00> to <0xFF>",
               replace_invalid_utf8(piece));
  }
  return static_cast<int>(value);
}

/// Refuses pieces on which a later step would rely in vain: empty or broken text, scores without an
/// order, and unused pieces of BPE, which the library splits again.
void check_piece(const Model& model, std::size_t id) {
  const Model::Piece& piece = model.pieces[id];
  if (piece.text.empty() || replace_invalid_utf8(piece.text) != piece.text) {
    throw_data("piece {} is empty or not valid UTF-8", id);
  }
  if (!std::isfinite(piece.score)) {
    throw_data("the score of piece {} (\"{}\") is not a finite number", id, piece.text);
  }
  if (piece.type == PieceType::unused && model.kind == Model::Kind::bpe) {
    throw_data("piece {} (\"{}\") is of type UNUSED, which is not supported in BPE models", id,
               piece.text);
  }
}

}  // namespace

void index_pieces(Model& model, const SpecialNames& names) {
  std::unordered_map<std::string_view, TokenId> reserved;
  std::vector<TokenId> bytes(256, -1);
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    check_piece(model, i);
    const Model::Piece& piece = model.pieces[i];
    const auto id = static_cast<TokenId>(i);
    const bool is_text = piece.type == PieceType::normal || piece.type == PieceType::user_defined ||
                         piece.type == PieceType::unused;
    if (!(is_text ? model.text_ids : reserved).emplace(piece.text, id).second) {
      throw_data("piece {} (\"{}\") appears twice", i, piece.text);
    }
    if (piece.type == PieceType::unknown) {
      if (model.unknown >= 0) {
        throw_data("pieces {} and {} both stand for unknown text", model.unknown, i);
      }
      model.unknown = id;
    } else if (piece.type == PieceType::byte) {
      bytes[static_cast<std::size_t>(byte_of(piece.text))] = id;
    }
  }
  const auto control = [&](const std::string& name) {
    const auto found = reserved.find(name);
    return found != reserved.end() &&
                   model.pieces[static_cast<std::size_t>(found->second)].type == PieceType::control
               ? found->second
               : -1;
  };
  model.bos = control(names.bos);
  model.eos = control(names.eos);
  model.pad = control(names.pad);
  if (model.byte_fallback) {
    model.byte_ids = std::move(bytes);
  }
}

void check_model(const Model& model) {
  if (model.pieces.empty() || model.unknown < 0) {
    throw_data("it holds {}", model.pieces.empty() ? "no pieces" : "no piece for unknown text");
  }
  if (model.kind != Model::Kind::unigram && model.kind != Model::Kind::bpe) {
    throw_data("its model_type is {}; supported are UNIGRAM (1) and BPE (2)",
               static_cast<int>(model.kind));
  }
  for (std::size_t byte = 0; byte < model.byte_ids.size(); ++byte) {
    if (model.byte_ids[byte] < 0) {
      throw_data("byte_fallback is set, but there is no piece <0x{:02X}>", byte);
    }
  }
}

}  // namespace mpitron::tokenizers
