#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace mpitron::tokenizers {

/// A compiled pattern (PCRE2 with Unicode properties, JIT-compiled where the processor allows).
/// Immutable: any number of threads may use it.
class Regex {
 public:
  /// The syntax of a pattern. oniguruma is that of tokenizer.json: ^ and $ match at every line; &&
  /// in it, which would intersect classes, is refused.
  enum class Syntax { perl, oniguruma };

  /// Error(data) with PCRE2's reason and the place in the pattern, and for what oniguruma reads in
  /// another way.
  explicit Regex(std::string_view pattern, Syntax syntax = Syntax::perl);
  ~Regex();
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  const std::string& pattern() const { return pattern_; }

 private:
  friend class RegexLexer;
  struct State;
  std::string pattern_;
  std::unique_ptr<State> state_;
};

/// Splits text by any pattern: the matches, and what lies between them, in order; empty matches do
/// not count. Its interface is that of SplitLexer.
class RegexLexer {
 public:
  RegexLexer(const Regex& regex, std::string_view text);
  ~RegexLexer();
  RegexLexer(const RegexLexer&) = delete;
  RegexLexer& operator=(const RegexLexer&) = delete;

  /// The next piece, or an empty view at the end. Error(data) with the byte offset where the text
  /// is not UTF-8, and where the pattern needs more than 64 MiB of stack.
  std::string_view next();

  /// Returns whether the piece before is a match of the pattern (and not what lies between two).
  bool matched() const { return matched_; }

  /// True where at least 16 bytes from the start of `piece` may be read.
  bool readable(std::string_view piece) const {
    return text_.data() + text_.size() - piece.data() >= 16;
  }

 private:
  struct State;
  bool find_match();

  const Regex& regex_;
  std::string_view text_;
  std::unique_ptr<State> state_;
  std::size_t at_ = 0;
  std::size_t match_begin_ = 0;  // of a match found and not handed out yet
  std::size_t match_end_ = 0;
  bool matched_ = false;
};

}  // namespace mpitron::tokenizers
