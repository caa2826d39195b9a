#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tokenizers/split/pre_tokenizer.h"
#include "tokenizers/text/json_view.h"

namespace mpitron::tokenizers {

/// A pattern that parts of a tokenizer.json look for in texts: a string or a regular expression.
/// Const methods may run on any number of threads.
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

/// A kind of rule in a tokenizer.json: what its "type" says, and what makes it of its object.
template <class Rule>
struct HfKind {
  std::string_view name;
  Rule (*make)(const JsonView& spec);
};

/// Returns the kind that `spec` names by its "type"; `what` ("decoder") is for messages.
/// Error(data) lists the kinds for any other type.
template <class Rule>
const HfKind<Rule>& kind_of(const JsonView& spec, std::span<const HfKind<Rule>> kinds,
                            std::string_view what) {
  const JsonView type = spec.at("type");
  std::string names;
  for (const HfKind<Rule>& kind : kinds) {
    if (kind.name == type.text()) {
      return kind;
    }
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  }
  type.refuse("this " + std::string(what) + " is not supported; supported are " + names);
}

}  // namespace mpitron::tokenizers
