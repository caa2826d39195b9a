#include "inference/grammar/json_patterns.h"

#include <algorithm>
#include <map>

#include "utils/text/utf8.h"

// JSON as patterns. Ranges of numbers are languages of digits: numbers of the same length are
// compared digit by digit, shorter and longer ones are whole classes.

namespace mpitron::inference {
namespace {

constexpr std::int64_t kMostIndent = 40;

Pattern byte(char c) {
  return Pattern::text({&c, 1});
}

ByteSet bytes_of(std::string_view characters) {
  ByteSet set;
  for (const char c : characters) {
    set.add(static_cast<unsigned char>(c));
  }
  return set;
}

Pattern any_of(std::string_view characters) {
  return Pattern::of(bytes_of(characters));
}

Pattern digits(std::int64_t least, std::int64_t most) {
  return Pattern::repeat(Pattern::of(ByteSet('0', '9')), least, most);
}

/// Returns the characters that stand in a string as they are.
CodePoints plain() {
  CodePoints special(0, 0x1F);
  special.add('"', '"');
  special.add('\\', '\\');
  return special.complement();
}

/// Makes \uXXXX of any character: two of them beyond the first plane.
Pattern unicode_escape() {
  const Pattern hex = any_of("0123456789abcdefABCDEF");
  const Pattern not_surrogate = Pattern::choice(
      {Pattern::sequence({any_of("0123456789abcefABCEF"), hex, hex, hex}),
       Pattern::sequence({any_of("dD"), Pattern::of(ByteSet('0', '7')), hex, hex})});
  const Pattern pair =
      Pattern::sequence({any_of("dD"), any_of("89abAB"), hex, hex, Pattern::text("\\u"),
                         any_of("dD"), any_of("cdefCDEF"), hex, hex});
  return Pattern::sequence({Pattern::text("\\u"), Pattern::choice({not_surrogate, pair})});
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

/// Makes the contents of strings that are none of some texts, character by character.
Pattern except(const std::vector<std::string>& texts) {
  std::map<std::string, std::vector<std::string>> by_first;  // a character, and what follows it
  bool ends = false;
  for (const std::string& text : texts) {
    if (text.empty()) {
      ends = true;
      continue;
    }
    const auto size = static_cast<std::size_t>(std::max(1, decode_utf8(text).bytes));
    by_first[text.substr(0, size)].push_back(text.substr(size));
  }
  CodePoints begun;
  std::vector<Pattern> parts;
  for (const auto& [first, rests] : by_first) {
    const std::uint32_t point = decode_utf8(first).code_point;
    begun.add(point, point);
    parts.push_back(Pattern::sequence({json_characters({point, point}), except(rests)}));
  }
  if (!ends) {
    parts.emplace_back();
  }
  parts.push_back(Pattern::sequence(
      {json_characters(begun.complement()),
       Pattern::repeat(json_characters(CodePoints::all()), 0, Pattern::kEndless)}));
  return Pattern::choice(std::move(parts));
}

}  // namespace

Pattern json_space() {
  return Pattern::choice(
      {Pattern(), byte(' '),
       Pattern::sequence({byte('\n'), Pattern::repeat(any_of(" \t"), 0, kMostIndent)})});
}

Pattern json_characters(const CodePoints& set) {
  constexpr std::string_view kNamed = "\"\\\b\f\n\r\t", kNames = "\"\\bfnrt";
  std::vector<Pattern> parts = {set.common(plain()).utf8()};
  const CodePoints escaped = set.common(plain().complement());
  for (const auto& [first, last] : escaped.ranges()) {
    for (std::uint32_t point = first; point <= last; ++point) {
      const std::size_t at = kNamed.find(static_cast<char>(point));
      const std::string hex{"0123456789abcdef"[point / 16], "0123456789abcdef"[point % 16]};
      parts.push_back(Pattern::text(at != std::string_view::npos ? std::string("\\") + kNames[at]
                                                                 : "\\u00" + hex));
    }
  }
  return Pattern::choice(std::move(parts));
}

Pattern json_character() {
  return Pattern::choice(
      {plain().utf8(), Pattern::sequence({byte('\\'), any_of("\"\\/bfnrt")}), unicode_escape()});
}

Pattern json_string(Pattern inside) {
  return Pattern::sequence({byte('"'), std::move(inside), byte('"')});
}

Pattern json_string_except(std::vector<std::string> texts) {
  return json_string(except(texts));
}

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

Pattern json_brackets(char open, Pattern inside, char close) {
  return Pattern::sequence(
      {byte(open), json_space(), std::move(inside), json_space(), byte(close)});
}

Pattern json_comma() {
  return Pattern::sequence({byte(','), json_space()});
}

Pattern json_pair(Pattern key, Pattern value) {
  return Pattern::sequence({std::move(key), byte(':'), json_space(), std::move(value)});
}

Pattern json_object(std::size_t value) {
  const Pattern pair = json_pair(
      json_string(Pattern::repeat(json_character(), 0, Pattern::kEndless)), Pattern::rule(value));
  const Pattern more =
      Pattern::repeat(Pattern::sequence({json_comma(), pair}), 0, Pattern::kEndless);
  return json_brackets('{', Pattern::optional(Pattern::sequence({pair, more})), '}');
}

Pattern json_value(std::size_t value) {
  const Pattern item = Pattern::rule(value);
  const Pattern more =
      Pattern::repeat(Pattern::sequence({json_comma(), item}), 0, Pattern::kEndless);
  return Pattern::choice(
      {json_object(value),
       json_brackets('[', Pattern::optional(Pattern::sequence({item, more})), ']'),
       json_string(Pattern::repeat(json_character(), 0, Pattern::kEndless)), json_number(),
       Pattern::text("true"), Pattern::text("false"), Pattern::text("null")});
}

}  // namespace mpitron::inference
