#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::tokenizers {

using Pieces = std::vector<std::string>;

/// All that a lexer yields.
template <class Lexer>
Pieces pieces_of(Lexer&& lexer) {
  Pieces pieces;
  for (std::string_view piece = lexer.next(); !piece.empty(); piece = lexer.next()) {
    pieces.emplace_back(piece);
  }
  return pieces;
}

}  // namespace mpitron::tokenizers
