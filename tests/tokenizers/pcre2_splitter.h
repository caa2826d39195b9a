#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::tokenizers {

/// GPT-2's pattern as published; the oracle of the lexer's tests.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Cuts text into successive matches of a pattern by PCRE2 (UTF, UCP, JIT).
class Pcre2Splitter {
 public:
  explicit Pcre2Splitter(std::string_view pattern);
  ~Pcre2Splitter();
  std::vector<std::string> split(std::string_view text) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mpitron::tokenizers
