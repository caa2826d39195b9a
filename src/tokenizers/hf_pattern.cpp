#include "tokenizers/hf_pattern.h"

#include "utils/error.h"

namespace mpitron::tokenizers {

TextPattern parse_hf_pattern(const JsonView& spec) {
  if (spec.has("String")) {
    return TextPattern::literal(spec.at("String").text());
  }
  if (!spec.has("Regex")) {
    spec.refuse("{\"String\": ...} or {\"Regex\": ...} is expected");
  }
  try {
    return TextPattern::regex(spec.at("Regex").text());
  } catch (const Error& error) {
    spec.refuse(error.what());
  }
}

void replace_matches(const TextPattern& pattern, const std::string& content, std::string& text) {
  std::string out;
  std::size_t at = 0;
  while (const auto match = pattern.find(text, at)) {
    out.append(text, at, match->begin - at).append(content);
    at = match->end;
  }
  if (at > 0) {
    text = out.append(text, at, std::string::npos);
  }
}

}  // namespace mpitron::tokenizers
