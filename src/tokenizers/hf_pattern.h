#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "tokenizers/json_view.h"
#include "tokenizers/pre_tokenizer.h"

namespace mpitron::tokenizers {

/// What the parts of a tokenizer.json look for in texts: a string or a regular expression. Const
/// methods may run on any number of threads.
class HfPattern {
 public:
  /// {"String": text} or {"Regex": expression}; Error(data) with the JSON path for anything else.
  explicit HfPattern(const JsonView& spec);
  explicit HfPattern(std::string literal) : literal_(std::move(literal)) {}

  /// Calls use(part, is_match) for each match (none is empty) and for what lies between: the parts
  /// follow each other and cover the text. `text` must be valid UTF-8.
  template <class Use>
  void for_each_part(std::string_view text, Use&& use) const;

  /// Replaces every match in `text` by `content`.
  void replace(std::string& text, const std::string& content) const;

 private:
  std::string literal_;
  std::optional<PreTokenizer> regex_;
};

template <class Use>
void HfPattern::for_each_part(std::string_view text, Use&& use) const {
  if (regex_) {
    regex_->visit(text, [&](auto&& lexer) {
      for (std::string_view part = lexer.next(); !part.empty(); part = lexer.next()) {
        use(part, lexer.matched());
      }
    });
    return;
  }
  while (!text.empty()) {
    const std::size_t at = literal_.empty() ? std::string_view::npos : text.find(literal_);
    const bool is_match = at == 0;
    const std::string_view part = text.substr(0, is_match ? literal_.size() : at);
    use(part, is_match);
    text.remove_prefix(part.size());
  }
}

}  // namespace mpitron::tokenizers
