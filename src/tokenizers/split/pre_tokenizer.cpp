#include "tokenizers/split/pre_tokenizer.h"

#include <array>
#include <utility>

// The choice between lexers written for published patterns and PCRE2 for any other. Patterns are
// compared as text: a pattern that means the same in other words takes the slower way.

namespace mpitron::tokenizers {

PreTokenizer::Kind PreTokenizer::kind_of(std::string_view pattern) {
  using enum Kind;
  static constexpr std::array<std::pair<std::string_view, Kind>, 6> kKnown = {
      {{kGpt2Pattern, gpt2},
       {kCl100kPattern, cl100k},
       {kQwen2Pattern, qwen2},
       {kO200kPattern, o200k},
       {kTiktokenV1Pattern, tiktoken_v1},
       {kTiktokenV2Pattern, tiktoken_v2}}};
  for (const auto& [known, kind] : kKnown) {
    if (pattern == known) {
      return kind;
    }
  }
  return other;
}

PreTokenizer::PreTokenizer(std::string_view pattern, Regex::Syntax syntax)
    : kind_(kind_of(pattern)),
      regex_(kind_ == Kind::other ? std::make_shared<const Regex>(pattern, syntax) : nullptr) {}

}  // namespace mpitron::tokenizers
