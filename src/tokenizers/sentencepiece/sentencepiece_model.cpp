#include "tokenizers/sentencepiece/sentencepiece_model.h"

#include "tokenizers/sentencepiece/sentencepiece_checks.h"
#include "tokenizers/text/protobuf_reader.h"
#include "utils/error.h"
#include "utils/system/files.h"

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
