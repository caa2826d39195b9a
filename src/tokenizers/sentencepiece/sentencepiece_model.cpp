#include "tokenizers/sentencepiece/sentencepiece_model.h"

#include <charconv>
#include <cmath>

#include "tokenizers/text/protobuf_reader.h"
#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/utf8.h"

// The reader of .model files: a protobuf message ModelProto (sentencepiece_model.proto), read
// without the protobuf library. Field numbers are those of the .proto; fields that do not decide
// about ids are passed over.

namespace mpitron::tokenizers {
namespace {

using Field = ProtobufReader::Field;
using Model = SentencePieceModel;
using PieceType = Model::PieceType;

/// Calls handle(field) for every field of a message.
template <class Handle>
void for_fields(std::string_view message, Handle&& handle) {
  ProtobufReader reader(message);
  for (Field field; reader.next(field);) {
    handle(field);
  }
}

/// Texts of the control pieces, which a model may rename (fields 46 to 48 of TrainerSpec).
struct SpecialNames {
  std::string bos = "<s>", eos = "</s>", pad = "<pad>";
};

/// Reads ModelProto.SentencePiece: text, score, type.
Model::Piece parse_piece(std::string_view message) {
  Model::Piece piece;
  for_fields(message, [&](const Field& field) {
    if (field.number == 1) {
      piece.text = field.bytes;
    } else if (field.number == 2) {
      piece.score = field.single();
    } else if (field.number == 3) {
      if (field.integer < 1 || field.integer > 6) {
        throw_data("a piece has the unknown type {}", field.integer);
      }
      piece.type = static_cast<PieceType>(field.integer);
    }
  });
  return piece;
}

/// Reads TrainerSpec: model_type 3, treat_whitespace_as_suffix 24, byte_fallback 35, unk_surface
/// 44, and names of pieces.
void parse_trainer(std::string_view message, Model& model, SpecialNames& names) {
  for_fields(message, [&](const Field& field) {
    switch (field.number) {
      case 3:
        model.kind = static_cast<Model::Kind>(field.integer);
        break;
      case 24:
        model.normalizer.whitespace_as_suffix = field.boolean();
        break;
      case 35:
        model.byte_fallback = field.boolean();
        break;
      case 44:
        model.unknown_surface = field.bytes;
        break;
      case 46:
        names.bos = field.bytes;
        break;
      case 47:
        names.eos = field.bytes;
        break;
      case 48:
        names.pad = field.bytes;
        break;
      default:
        break;
    }
  });
}

/// Reads NormalizerSpec, of the normalizer and the denormalizer.
void parse_normalizer(std::string_view message, Model::Normalizer& normalizer) {
  for_fields(message, [&](const Field& field) {
    if (field.number == 2) {
      normalizer.charsmap = field.bytes;
    } else if (field.number == 3) {
      normalizer.add_dummy_prefix = field.boolean();
    } else if (field.number == 4) {
      normalizer.remove_extra_whitespaces = field.boolean();
    } else if (field.number == 5) {
      normalizer.escape_whitespaces = field.boolean();
    }
  });
}

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

/// Finds ids by text, the special pieces and those of bytes. Pieces that text can become and all
/// others are two name spaces, as in the library.
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

/// Refuses kinds of models that have no encoder here (WORD, CHAR), and byte fallback without all
/// 256 pieces.
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

}  // namespace

SentencePieceModel parse_sentencepiece_model(std::string_view bytes) {
  Model model;
  SpecialNames names;
  for_fields(bytes, [&](const Field& field) {
    if (field.number == 1) {
      model.pieces.push_back(parse_piece(field.bytes));
    } else if (field.number == 2) {
      parse_trainer(field.bytes, model, names);
    } else if (field.number == 3) {
      parse_normalizer(field.bytes, model.normalizer);
    } else if (field.number == 5) {
      Model::Normalizer denormalizer;
      parse_normalizer(field.bytes, denormalizer);
      model.denormalizer_charsmap = denormalizer.charsmap;
    }
  });
  index_pieces(model, names);
  check_model(model);
  if (!model.denormalizer_charsmap.empty()) {
    throw_data("it holds rules of a denormalizer, which are not supported");
  }
  return model;
}

SentencePieceModel load_sentencepiece_model(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file)) {
    throw_data("--tokenizer-model {}: no such file; a SentencePiece .model file is expected",
               file.string());
  }
  try {
    return parse_sentencepiece_model(read_file(file));
  } catch (const Error& error) {
    throw_data("--tokenizer-model {}: not a SentencePiece model that can be used: {}",
               file.string(), error.what());
  }
}

}  // namespace mpitron::tokenizers
