#pragma once
#include <utility>
#include <vector>

#include "tokenizers/hugging_face/hf_pattern.h"
#include "tokenizers/hugging_face/hf_steps.h"
#include "tokenizers/split/split_lexer.h"
#include "tokenizers/text/unicode_text.h"
#include "utils/text/utf8.h"

namespace mpitron::tokenizers {

// Ways to cut the pieces of a text: by classes of characters and by patterns.

using HfCut = std::function<void(TextPieces&)>;
using CutParts = std::vector<TextPieces::Part>;

/// Cuts text into parts: characters of class 0 that follow each other are one part without a match,
/// every other character is a match of its own.
template <class ClassOf>
void cut_runs(std::string_view text, ClassOf&& class_of, CutParts& parts) {
  int previous = -1;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char next = decode_utf8(text.substr(at));
    const auto bytes = static_cast<std::size_t>(next.bytes == 0 ? 1 : next.bytes);
    const int kind = class_of(next.code_point);
    if (kind == previous && kind == 0) {
      parts.back().text = {parts.back().text.data(), parts.back().text.size() + bytes};
    } else {
      parts.push_back({text.substr(at, bytes), kind != 0});
    }
    previous = kind;
    at += bytes;
  }
}

/// Makes every character for which `matches` holds a match of its own.
inline HfCut cut_characters(TextPieces::Behavior behavior, bool (*matches)(std::uint32_t)) {
  return [behavior, matches](TextPieces& pieces) {
    pieces.split(behavior, [matches](std::string_view text, CutParts& parts) {
      cut_runs(
          text, [matches](std::uint32_t c) { return matches(c) ? 1 : 0; }, parts);
    });
  };
}

inline HfCut cut_pattern(HfPattern pattern, TextPieces::Behavior behavior, bool invert) {
  return [pattern = std::move(pattern), behavior, invert](TextPieces& pieces) {
    pieces.split(behavior, [&](std::string_view text, CutParts& parts) {
      pattern.for_each_part(text, [&](std::string_view part, bool is_match) {
        parts.push_back({part, is_match != invert});
      });
    });
  };
}

/// Cuts as the regular expression \w+|[^\w\s]+ does, and drops white space.
inline void cut_words(TextPieces& pieces) {
  pieces.split(TextPieces::Behavior::removed, [](std::string_view text, CutParts& parts) {
    int previous = -1;
    for (std::size_t at = 0; at < text.size();) {
      const Utf8Char next = decode_utf8(text.substr(at));
      const auto bytes = static_cast<std::size_t>(next.bytes == 0 ? 1 : next.bytes);
      const std::uint32_t c = next.code_point;
      const int kind = is_white_space(c) ? 2 : is_word(c) ? 1 : 0;
      if (kind == previous) {
        parts.back().text = {parts.back().text.data(), parts.back().text.size() + bytes};
      } else {
        parts.push_back({text.substr(at, bytes), kind == 2});
      }
      previous = kind;
      at += bytes;
    }
  });
}

/// Cuts by GPT-2's pattern.
inline void cut_by_gpt2(TextPieces& pieces) {
  pieces.split(TextPieces::Behavior::isolated, [](std::string_view text, CutParts& parts) {
    Gpt2Lexer lexer(text);
    for (std::string_view piece = lexer.next(); !piece.empty(); piece = lexer.next()) {
      parts.push_back({piece, false});
    }
  });
}

}  // namespace mpitron::tokenizers
