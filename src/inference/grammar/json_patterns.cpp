#include "inference/grammar/json_patterns.h"

#include <algorithm>
#include <map>

#include "utils/text/utf8.h"

// JSON as patterns: texts, lists, objects and any value.

namespace mpitron::inference {
namespace {

constexpr std::int64_t kMostIndent = 40;

ByteSet bytes_of(std::string_view characters) {
  ByteSet set;
  for (const char c : characters) {
    set.add(static_cast<unsigned char>(c));
  }
  return set;
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

Pattern byte(char c) {
  return Pattern::text({&c, 1});
}

Pattern any_of(std::string_view characters) {
  return Pattern::of(bytes_of(characters));
}

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
