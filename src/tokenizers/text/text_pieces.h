#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::tokenizers {

/// A text cut into pieces that follow each other, as pre-tokenizers pass it on: one buffer, no
/// allocation per piece.
class TextPieces {
 public:
  /// Treatment of the matches of a pattern that cuts a text, in the words of Hugging Face.
  enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

  /// A part of a piece, and whether the pattern matches it.
  struct Part {
    std::string_view text;
    bool is_match = false;
  };

  /// Starts with one piece. `at_start`: it is the beginning of the whole text.
  void reset(std::string_view text, bool at_start);

  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }
  /// Returns whether 16 bytes may be read from the start of piece i.
  bool readable(std::size_t i) const { return text_.size() - (i == 0 ? 0 : ends_[i - 1]) >= 16; }

  /// Cuts every piece into the parts that `cut(piece, parts)` appends, which cover it.
  void split(Behavior behavior,
             const std::function<void(std::string_view, std::vector<Part>&)>& cut);

  /// Replaces every piece by what `rewrite(piece, is_first, out)` appends to `out`.
  void rewrite(const std::function<void(std::string_view, bool, std::string&)>& rewrite);

 private:
  static void arrange(Behavior behavior, std::vector<Part>& parts);
  static void join(std::vector<Part>& parts, Behavior behavior);

  std::string text_;
  std::vector<std::size_t> ends_;
  bool at_start_ = true;
};

}  // namespace mpitron::tokenizers
