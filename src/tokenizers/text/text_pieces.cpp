#include "tokenizers/text/text_pieces.h"

#include <algorithm>

// Cuts and joins of a text's pieces. Rules of a tokenizer.json run one after the other on the same
// pieces; each builds the next buffer as a whole.

namespace mpitron::tokenizers {
namespace {

/// Joins two parts of one piece, which lie behind each other in memory.
std::string_view span_of(std::string_view first, std::string_view second) {
  return {first.data(), first.size() + second.size()};
}

}  // namespace

void TextPieces::reset(std::string_view text, bool at_start) {
  text_ = text;
  ends_.clear();
  at_start_ = at_start;
  if (!text.empty()) {
    ends_.push_back(text.size());
  }
}

/// Joins a match to what stands before it, or with `contiguous` parts of the same kind.
void TextPieces::join(std::vector<Part>& parts, Behavior behavior) {
  std::vector<Part> joined;
  bool was_match = false;
  for (const Part& part : parts) {
    const bool joins = behavior == Behavior::contiguous
                           ? !joined.empty() && part.is_match == was_match
                           : !joined.empty() && part.is_match && !was_match;
    if (joins) {
      joined.back().text = span_of(joined.back().text, part.text);
    } else {
      joined.push_back(part);
    }
    was_match = part.is_match;
  }
  parts = std::move(joined);
}

void TextPieces::arrange(Behavior behavior, std::vector<Part>& parts) {
  std::erase_if(parts, [](const Part& part) { return part.text.empty(); });
  switch (behavior) {
    case Behavior::removed:
      std::erase_if(parts, [](const Part& part) { return part.is_match; });
      break;
    case Behavior::isolated:
      break;
    case Behavior::merged_with_previous:
    case Behavior::contiguous:
      join(parts, behavior);
      break;
    case Behavior::merged_with_next: {
      std::vector<Part> joined;  // from the end
      bool was_match = false;
      for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        if (part->is_match && !was_match && !joined.empty()) {
          joined.back().text = span_of(part->text, joined.back().text);
        } else {
          joined.push_back(*part);
        }
        was_match = part->is_match;
      }
      parts.assign(joined.rbegin(), joined.rend());
    }
  }
}

/// The first piece stays the beginning of the text only if its first part was not removed.
void TextPieces::split(Behavior behavior,
                       const std::function<void(std::string_view, std::vector<Part>&)>& cut) {
  std::string text;
  std::vector<std::size_t> ends;
  std::vector<Part> parts;
  bool at_start = false;
  for (std::size_t i = 0; i < size(); ++i) {
    const std::string_view piece = (*this)[i];
    parts.clear();
    cut(piece, parts);
    arrange(behavior, parts);
    at_start |= i == 0 && !parts.empty() && parts.front().text.data() == piece.data();
    for (const Part& part : parts) {
      text += part.text;
      ends.push_back(text.size());
    }
  }
  at_start_ = at_start_ && at_start;
  text_ = std::move(text);
  ends_ = std::move(ends);
}

void TextPieces::rewrite(const std::function<void(std::string_view, bool, std::string&)>& rewrite) {
  std::string text;
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < size(); ++i) {
    const std::size_t before = text.size();
    rewrite((*this)[i], at_start_ && i == 0, text);
    if (text.size() > before) {
      ends.push_back(text.size());
    }
  }
  text_ = std::move(text);
  ends_ = std::move(ends);
}

}  // namespace mpitron::tokenizers
