#include <algorithm>

#include "inference/grammar/json_patterns.h"

// Numbers of JSON as patterns. Ranges are languages of digits: numbers of the same length are
// compared digit by digit, shorter and longer ones are whole classes.

namespace mpitron::inference {
namespace {

Pattern digits(std::int64_t least, std::int64_t most) {
  return Pattern::repeat(Pattern::of(ByteSet('0', '9')), least, most);
}

/// Makes the digits of numbers from `least` to `most`, which are of equal length.
Pattern same_length(std::string_view least, std::string_view most) {
  if (least.empty()) {
    return {};
  }
  const auto size = static_cast<std::int64_t>(least.size()) - 1;
  const std::string nines(least.size() - 1, '9'), zeros(least.size() - 1, '0');
  if (least == zeros + '0' && most == nines + '9') {
    return digits(size + 1, size + 1);
  }
  const auto digit = [](char from, char to) {
    return Pattern::of(ByteSet(static_cast<unsigned char>(from), static_cast<unsigned char>(to)));
  };
  if (least[0] == most[0]) {
    return Pattern::sequence(
        {digit(least[0], least[0]), same_length(least.substr(1), most.substr(1))});
  }
  std::vector<Pattern> parts = {
      Pattern::sequence({digit(least[0], least[0]), same_length(least.substr(1), nines)}),
      Pattern::sequence({digit(most[0], most[0]), same_length(zeros, most.substr(1))})};
  if (least[0] + 1 < most[0]) {
    parts.push_back(
        Pattern::sequence({digit(static_cast<char>(least[0] + 1), static_cast<char>(most[0] - 1)),
                           digits(size, size)}));
  }
  return Pattern::choice(std::move(parts));
}

std::string power_of_ten(std::size_t zeros) {
  return "1" + std::string(zeros, '0');
}

/// Makes numbers from 0 on; `most` unset: without limit.
Pattern natural_range(std::uint64_t least, std::optional<std::uint64_t> most) {
  std::vector<Pattern> parts;
  std::string from = std::to_string(least);
  if (!most) {
    parts.push_back(same_length(from, std::string(from.size(), '9')));
    parts.push_back(
        Pattern::sequence({Pattern::of(ByteSet('1', '9')),
                           digits(static_cast<std::int64_t>(from.size()), Pattern::kEndless)}));
    return Pattern::choice(std::move(parts));
  }
  const std::string to = std::to_string(*most);
  while (least <= *most) {
    const bool last = from.size() == to.size();
    parts.push_back(same_length(from, last ? to : std::string(from.size(), '9')));
    if (last) {
      break;
    }
    from = power_of_ten(from.size());
  }
  return Pattern::choice(std::move(parts));
}

std::uint64_t size_of(std::int64_t value) {
  return value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
}

/// Makes numbers of one sign between two sizes, with a fraction: whole parts below the upper one
/// with any fraction, and the ends as the bounds say.
Pattern size_range(NumberBound least, std::optional<NumberBound> most) {
  const Pattern fraction =
      Pattern::optional(Pattern::sequence({byte('.'), digits(1, Pattern::kEndless)}));
  const Pattern zeros =
      Pattern::optional(Pattern::sequence({byte('.'), Pattern::repeat(byte('0'), 1, 20)}));
  const Pattern above = Pattern::sequence(
      {byte('.'), digits(0, Pattern::kEndless), Pattern::of(ByteSet('1', '9')), digits(0, 20)});
  std::vector<Pattern> parts;
  std::int64_t first = least.value;
  if (least.open && (!most || least.value < most->value)) {
    parts.push_back(Pattern::sequence({Pattern::text(std::to_string(first)), above}));
    ++first;
  }
  if (!most || first < most->value) {
    parts.push_back(Pattern::sequence(
        {natural_range(
             static_cast<std::uint64_t>(first),
             most ? std::optional(static_cast<std::uint64_t>(most->value - 1)) : std::nullopt),
         fraction}));
  }
  if (most && !most->open && (most->value > least.value || !least.open) &&
      most->value >= least.value) {
    parts.push_back(Pattern::sequence({Pattern::text(std::to_string(most->value)), zeros}));
  }
  return Pattern::choice(std::move(parts));
}

}  // namespace

Pattern json_integer() {
  return json_integer_range(std::nullopt, std::nullopt);
}

Pattern json_number() {
  return Pattern::sequence(
      {json_integer(),
       Pattern::optional(Pattern::sequence({byte('.'), digits(1, Pattern::kEndless)})),
       Pattern::optional(
           Pattern::sequence({any_of("eE"), Pattern::optional(any_of("+-")), digits(1, 2)}))});
}

Pattern json_integer_range(std::optional<std::int64_t> least, std::optional<std::int64_t> most) {
  std::vector<Pattern> parts;
  if (!most || *most >= 0) {
    parts.push_back(
        natural_range(static_cast<std::uint64_t>(std::max<std::int64_t>(least.value_or(0), 0)),
                      most ? std::optional(static_cast<std::uint64_t>(*most)) : std::nullopt));
  }
  if (!least || *least < 0) {
    const std::uint64_t smallest = most && *most < 0 ? size_of(*most) : 1;
    parts.push_back(Pattern::sequence(
        {byte('-'),
         natural_range(smallest, least ? std::optional(size_of(*least)) : std::nullopt)}));
  }
  return Pattern::choice(std::move(parts));
}

Pattern json_number_range(std::optional<NumberBound> least, std::optional<NumberBound> most) {
  std::vector<Pattern> parts;
  if (!most || most->value >= 0) {
    const NumberBound from = least && least->value >= 0 ? *least : NumberBound{0};
    parts.push_back(size_range(from, most));
  }
  if (!least || least->value < 0) {
    const NumberBound from =
        most && most->value <= 0 ? NumberBound{-most->value, most->open} : NumberBound{0, true};
    const auto to = least ? std::optional(NumberBound{-least->value, least->open}) : std::nullopt;
    parts.push_back(Pattern::sequence({byte('-'), size_range(from, to)}));
  }
  return Pattern::choice(std::move(parts));
}

}  // namespace mpitron::inference
