#include "tokenizers/hugging_face/hf_pattern.h"

#include "utils/error.h"

// Patterns of a tokenizer.json, a literal string or a regular expression of Oniguruma's syntax, and
// the replacement of their matches.

namespace mpitron::tokenizers {

HfPattern::HfPattern(const JsonView& spec) {
  if (spec.has("String")) {
    literal_ = spec.at("String").text();
    return;
  }
  if (!spec.has("Regex")) {
    spec.refuse("{\"String\": ...} or {\"Regex\": ...} is expected");
  }
  try {
    regex_.emplace(spec.at("Regex").text(), Regex::Syntax::oniguruma);
  } catch (const Error& error) {
    spec.refuse(error.what());
  }
}

void HfPattern::replace(std::string& text, const std::string& content) const {
  std::string out;
  bool replaced = false;
  for_each_part(text, [&](std::string_view part, bool is_match) {
    out += is_match ? content : part;
    replaced |= is_match;
  });
  if (replaced) {
    text = std::move(out);
  }
}

}  // namespace mpitron::tokenizers
