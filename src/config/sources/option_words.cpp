#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/sources/given_option.h"
#include "config/values/finding.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// Checks of the words that an option was given: how many, their type, and their choices.

namespace mpitron::config {
namespace {

WordCheck check_integer(const std::string& word) {
  // No run counts farther, and a few times as much still fits 63 bits.
  constexpr Index kLargest = 1'000'000'000'000;
  if (const auto integer = read_integer(word);
      integer && -kLargest <= *integer && *integer <= kLargest) {
    return {};
  }
  const std::optional<double> real = read_real(word);
  if (real && std::abs(*real) > static_cast<double>(kLargest)) {
    return {fmt::format("an integer of at most {}", kLargest), ""};
  }
  const bool whole = real && *real == std::floor(*real);
  return {"an integer", whole ? fmt::format("{}", static_cast<Index>(*real)) : ""};
}

/// Checks a word against the choices, and finds the nearest one for a typing error.
WordCheck check_choice(const Option& option, const std::string& word) {
  const std::vector<std::string> choices = split_words(option.choices);
  if (std::find(choices.begin(), choices.end(), word) != choices.end()) {
    return {};
  }
  const std::vector<std::string_view> views(choices.begin(), choices.end());
  const std::vector<std::string_view> near = nearest_words(word, views);
  return {fmt::format("one of {}", fmt::join(choices, ", ")),
          near.empty() ? "" : std::string(near[0])};
}

}  // namespace

bool is_flag(const Option& option) {
  return option.kind == Kind::flag || option.kind == Kind::flag_off;
}

std::string count_mistake(const Option& option, std::size_t words) {
  if (is_flag(option) && words > 0) {
    return "is a flag and takes no value";
  }
  if (option.kind == Kind::value && words != 1) {
    return words == 0 ? "needs a value" : "takes one value";
  }
  return option.kind == Kind::words && words == 0 ? "needs at least one value" : "";
}

WordCheck check_word(const Option& option, const std::string& word) {
  if (!is_utf8(word)) {
    return {"text in UTF-8, which checkpoints and logs are written in", ""};
  }
  switch (option.type) {
    case Type::boolean:
      return word == "true" || word == "false" ? WordCheck{} : WordCheck{"true or false", ""};
    case Type::integer: {
      const WordCheck check = check_integer(word);
      return check.expected.empty() && !option.choices.empty() ? check_choice(option, word) : check;
    }
    case Type::real:
      return read_real(word) ? WordCheck{} : WordCheck{"a number", ""};
    case Type::frequency:
      try {
        parse_list_expression(word);
        return {};
      } catch (const Error& error) {
        return {fmt::format("an integer or a list ({})", error.what()), ""};
      }
    case Type::text:
      return option.choices.empty() ? WordCheck{} : check_choice(option, word);
  }
  return {};
}

}  // namespace mpitron::config
