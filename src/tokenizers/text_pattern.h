#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mpitron::tokenizers {

/// A string or a regular expression (PCRE2 with UTF-8 and Unicode properties, compiled to machine
/// code) that is looked for in texts. Safe for several threads at once.
class TextPattern {
 public:
  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  static TextPattern literal(std::string text);
  /// Error(data) for an expression that PCRE2 does not know, and for those it reads in another way
  /// than Oniguruma (`&&` in classes).
  static TextPattern regex(const std::string& expression);

  TextPattern(TextPattern&&) noexcept;
  TextPattern& operator=(TextPattern&&) noexcept;
  ~TextPattern();

  /// The first non-empty match at or behind `from`; `text` must be valid UTF-8.
  std::optional<Match> find(std::string_view text, std::size_t from) const;

 private:
  struct Code;
  TextPattern();

  std::string literal_;
  std::unique_ptr<Code> code_;
};

}  // namespace mpitron::tokenizers
