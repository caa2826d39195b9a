#include <algorithm>

#include "tokenizers/hugging_face/hf_bpe_model.h"
#include "tokenizers/sentencepiece/sentencepiece_model.h"
#include "tokenizers/text/byte_alphabet.h"
#include "utils/text/utf8.h"

// From a piece of text to ids of BPE: characters, or bytes with byte_level, become symbols, which
// SymbolMerges joins.

namespace mpitron::tokenizers {

std::size_t HfBpeModel::end_of_part(std::string_view piece, std::size_t start) const {
  if (!cuts_at_spaces_) {
    return piece.size();
  }
  while (piece.substr(start).starts_with(kMetaSpace)) {
    start += kMetaSpace.size();
  }
  return std::min(piece.find(kMetaSpace, start), piece.size());
}

/// Falls back to bytes only if the vocabulary has every byte of the character.
bool HfBpeModel::append_bytes(std::string_view character, Symbols& symbols) const {
  const auto id_of = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
  if (!std::all_of(character.begin(), character.end(), [&](char c) { return id_of(c) >= 0; })) {
    return false;
  }
  for (const char byte : character) {
    symbols.push_back({id_of(byte), 1});
  }
  return true;
}

/// Appends a symbol for each character: with the continuation prefix behind the first one and the
/// suffix at the last one, as bytes where it is unknown and byte_fallback says so, else as the
/// unknown token, several in a row as one with fuse_unk.
void HfBpeModel::append_characters(std::string_view piece, Symbols& symbols) const {
  bool after_unknown = false;
  std::string token;
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t bytes =
        byte_level_ ? 1
                    : static_cast<std::size_t>(std::max(1, decode_utf8(piece.substr(at)).bytes));
    const std::string_view character = piece.substr(at, bytes);
    const bool first = at == 0;
    at += bytes;
    TokenId id = -1;
    if (byte_level_ && prefix_.empty() && suffix_.empty()) {
      id = byte_ids_[static_cast<unsigned char>(character.front())];
    } else {
      token = first ? "" : prefix_;
      token += byte_level_ ? bytes_to_alphabet(character) : std::string(character);
      token += at == piece.size() ? suffix_ : "";
      id = find_token(token);
    }
    if (id < 0 && byte_fallback_ && append_bytes(token, symbols)) {
      continue;
    }
    const bool unknown = id < 0;
    if (unknown && unknown_ >= 0 && fuse_unknown_ && after_unknown) {
      symbols.back().bytes += static_cast<std::uint32_t>(bytes);
    } else if (!unknown || unknown_ >= 0) {
      symbols.push_back({unknown ? unknown_ : id, static_cast<std::uint32_t>(bytes)});
    }
    after_unknown = unknown ? unknown_ >= 0 : false;
  }
}

void HfBpeModel::encode(std::string_view piece, TokenIds& ids) const {
  if (ignore_merges_) {
    const auto known = whole_.find(std::string(piece));
    const TokenId id = !byte_level_            ? find_token(piece)
                       : known == whole_.end() ? -1
                                               : known->second;
    if (id >= 0) {
      ids.push_back(id);
      return;
    }
  }
  Symbols symbols;
  append_characters(piece, symbols);
  merges_->merge(symbols);
  for (const SymbolMerges::Symbol& symbol : symbols) {
    ids.push_back(symbol.id);
  }
}

}  // namespace mpitron::tokenizers
