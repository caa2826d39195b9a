#include "inference/grammar/regex_parser.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "utils/error.h"
#include "utils/text/utf8.h"

// A recursive descent over the syntax of regular expressions: alternatives, sequences, counted
// atoms, groups, classes. What matches by looking around or back is refused with its position.

namespace mpitron::inference {
namespace {

constexpr int kDeepestGroup = 200;
constexpr std::int64_t kLargestCount = 10'000;

CodePoints decimal_digits() {
  return {'0', '9'};
}

CodePoints word_characters() {
  CodePoints set = decimal_digits();
  set.add('A', 'Z');
  set.add('a', 'z');
  set.add('_', '_');
  return set;
}

CodePoints spaces() {
  CodePoints set('\t', '\r');
  set.add(' ', ' ');
  return set;
}

CodePoints all_but_newlines() {
  CodePoints newlines('\n', '\n');
  newlines.add('\r', '\r');
  return newlines.complement();
}

bool skip_text(std::string_view& rest, std::string_view text) {
  const bool here = rest.starts_with(text);
  rest.remove_prefix(here ? text.size() : 0);
  return here;
}

std::int64_t take_count(std::string_view& rest, const std::function<void(std::string_view)>& fail) {
  std::int64_t value = -1;
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (read.ec != std::errc() || value < 0 || value > kLargestCount) {
    fail("a count that is no number up to 10000");
  }
  rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
  return value;
}

/// Reads one expression; `write` decides how a set of characters stands in the text.
class RegexParser {
 public:
  /// Parses `regex`; with `searches` anything may stand in front of or behind what is not anchored.
  RegexParser(std::string_view regex, const WriteCharacters& write, bool searches)
      : whole_(regex), rest_(regex), write_(write), searches_(searches) {
    if (!is_utf8(regex)) {
      throw_data("a regular expression is UTF-8 text");
    }
  }

  Pattern parse() {
    Pattern all = alternatives(0);
    if (!rest_.empty()) {
      fail("a ) without a (");
    }
    return all;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw_data("the regular expression {} has at {}: {}", whole_, whole_.size() - rest_.size(),
               what);
  }
  bool skip(std::string_view text) { return skip_text(rest_, text); }
  std::uint32_t character() {
    if (rest_.empty()) {
      fail("an end where a character was expected");
    }
    const Utf8Char c = decode_utf8(rest_);
    rest_.remove_prefix(static_cast<std::size_t>(c.bytes));
    return c.code_point;
  }

  Pattern alternatives(int depth);
  Pattern sequence(int depth);
  Pattern atom(int depth);
  Pattern group(int depth);
  void skip_name();
  Pattern counted(Pattern part);
  CodePoints bracket();
  std::uint32_t bracket_end(std::uint32_t first);
  /// Reads the letter behind a backslash where it names a class: \d, \W, ...
  std::optional<CodePoints> escaped_class();
  std::uint32_t escaped_character();
  std::uint32_t hexadecimal(std::size_t size);

  std::string_view whole_;
  std::string_view rest_;
  const WriteCharacters& write_;
  bool searches_;
};

Pattern RegexParser::alternatives(int depth) {
  if (depth > kDeepestGroup) {
    fail("groups nested too deeply");
  }
  std::vector<Pattern> parts;
  do {
    parts.push_back(sequence(depth));
  } while (skip("|"));
  return Pattern::choice(std::move(parts));
}

/// Reads a sequence; anchors are known at the ends of the whole expression and of its alternatives.
Pattern RegexParser::sequence(int depth) {
  const Pattern anything = Pattern::repeat(write_(CodePoints::all()), 0, Pattern::kEndless);
  std::vector<Pattern> parts;
  if (const bool begins = depth == 0 && skip("^"); searches_ && depth == 0 && !begins) {
    parts.push_back(anything);
  }
  bool ends = depth > 0 || !searches_;
  while (!rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
    if (depth == 0 && rest_.front() == '$' && (rest_.size() == 1 || rest_[1] == '|')) {
      rest_.remove_prefix(1);
      ends = true;
      break;
    }
    parts.push_back(counted(atom(depth)));
  }
  if (!ends) {
    parts.push_back(anything);
  }
  return Pattern::sequence(std::move(parts));
}

Pattern RegexParser::atom(int depth) {
  const char c = rest_.front();
  switch (c) {
    case '(':
      return group(depth);
    case '[':
      return write_(bracket());
    case '.':
      rest_.remove_prefix(1);
      return write_(all_but_newlines());
    case '\\':
      rest_.remove_prefix(1);
      if (const auto set = escaped_class()) {
        return write_(*set);
      }
      break;
    case '*':
    case '+':
    case '?':
    case '{':
      fail("a count without anything to count");
    case '^':
    case '$':
      fail("an anchor inside the expression");
    default: {
      const std::uint32_t point = character();
      return write_({point, point});
    }
  }
  const std::uint32_t point = escaped_character();
  return write_({point, point});
}

/// Leaves out the name of a group, which is an identifier, and what ends it.
void RegexParser::skip_name() {
  const std::size_t end = rest_.find('>');
  if (end == std::string_view::npos) {
    fail("a group whose name has no end");
  }
  const std::string_view name = rest_.substr(0, end);
  const auto may_be_in_names = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') ||
      !std::ranges::all_of(name, may_be_in_names)) {
    fail("a group whose name is not made of letters, digits and _");
  }
  rest_.remove_prefix(end + 1);
}

/// Reads a group, whose kinds are told by what follows its parenthesis.
Pattern RegexParser::group(int depth) {
  rest_.remove_prefix(1);
  if (skip("?")) {
    const bool looks_back = rest_.starts_with("<=") || rest_.starts_with("<!");
    if (skip("P<") || (!looks_back && skip("<"))) {
      skip_name();
    } else if (!skip(":")) {
      fail("a group that looks around or changes options, which is not available");
    }
  }
  Pattern inner = alternatives(depth + 1);
  if (!skip(")")) {
    fail("a group without an end");
  }
  return inner;
}

/// Applies what counts the part, and what counts that.
Pattern RegexParser::counted(Pattern part) {
  const auto refuse = [this](std::string_view what) { fail(what); };
  for (int counts = 0; const auto repetition = take_repetition(rest_, refuse); ++counts) {
    if (counts > 2) {
      fail("counts of counts");
    }
    part = Pattern::repeat(std::move(part), repetition->least, repetition->most);
    skip("?");  // as few as possible: the same language
  }
  return part;
}

std::optional<CodePoints> RegexParser::escaped_class() {
  if (rest_.empty()) {
    fail("a \\ at the end");
  }
  const char c = rest_.front();
  const CodePoints set = c == 'd' || c == 'D'   ? decimal_digits()
                         : c == 'w' || c == 'W' ? word_characters()
                         : c == 's' || c == 'S' ? spaces()
                                                : CodePoints();
  if (set.empty()) {
    return std::nullopt;
  }
  rest_.remove_prefix(1);
  return c >= 'a' ? set : set.complement();
}

std::uint32_t RegexParser::hexadecimal(std::size_t size) {
  std::uint32_t value = 0;
  const char* const end = rest_.data() + std::min(size, rest_.size());
  const auto read = std::from_chars(rest_.data(), end, value, 16);
  if (read.ptr != rest_.data() + size || value > CodePoints::kLast) {
    fail("an escape with too few hexadecimal digits");
  }
  rest_.remove_prefix(size);
  return value;
}

std::uint32_t RegexParser::escaped_character() {
  constexpr std::string_view kNames = "tnrfv0", kMeant{"\t\n\r\f\v\0", 6};
  const char c = rest_.front();
  if (const std::size_t at = kNames.find(c); at != std::string_view::npos) {
    rest_.remove_prefix(1);
    return static_cast<unsigned char>(kMeant[at]);
  }
  if (c == 'x' || c == 'u') {
    rest_.remove_prefix(1);
    if (c == 'u' && skip("{")) {
      const std::uint32_t value = hexadecimal(std::min(rest_.find('}'), rest_.size()));
      rest_.remove_prefix(std::min<std::size_t>(1, rest_.size()));
      return value;
    }
    return hexadecimal(c == 'x' ? 2 : 4);
  }
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '1' && c <= '9');
  if (letter) {
    fail("an escape that is not available");
  }
  return character();
}

/// Reads the end of a range that begins with `first`; `first` itself where it is no range.
std::uint32_t RegexParser::bracket_end(std::uint32_t first) {
  if (rest_.size() < 2 || rest_[0] != '-' || rest_[1] == ']') {
    return first;
  }
  rest_.remove_prefix(1);
  std::uint32_t last = 0;
  if (skip("\\")) {
    if (escaped_class()) {
      fail("a range that ends with a class");
    }
    last = escaped_character();
  } else {
    last = character();
  }
  if (last < first) {
    fail("a range whose end is before its beginning");
  }
  return last;
}

/// Reads a class in square brackets.
CodePoints RegexParser::bracket() {
  rest_.remove_prefix(1);
  const bool negated = skip("^");
  CodePoints set;
  for (bool first = true; first || !rest_.starts_with(']'); first = false) {
    if (rest_.empty()) {
      fail("a [ without an end");
    }
    if (skip("\\")) {
      if (const auto named = escaped_class()) {
        set.add(*named);
        continue;
      }
      const std::uint32_t point = rest_.front() == 'b' ? 0 : escaped_character();
      set.add(point, bracket_end(point));
      continue;
    }
    if (rest_.starts_with("[:")) {
      fail("a named class, which is not available");
    }
    const std::uint32_t point = character();
    set.add(point, bracket_end(point));
  }
  rest_.remove_prefix(1);
  const CodePoints chosen = negated ? set.complement() : set.complement().complement();
  if (chosen.empty()) {
    fail("a class without characters");
  }
  return chosen;
}

}  // namespace

std::optional<Repetition> take_repetition(std::string_view& rest,
                                          const std::function<void(std::string_view)>& fail) {
  if (skip_text(rest, "*")) {
    return Repetition{0, Pattern::kEndless};
  }
  if (skip_text(rest, "+")) {
    return Repetition{1, Pattern::kEndless};
  }
  if (skip_text(rest, "?")) {
    return Repetition{0, 1};
  }
  if (!skip_text(rest, "{")) {
    return std::nullopt;
  }
  Repetition counted{rest.starts_with(',') ? 0 : take_count(rest, fail), 0};
  counted.most = counted.least;
  if (skip_text(rest, ",")) {
    counted.most = rest.starts_with('}') ? Pattern::kEndless : take_count(rest, fail);
  }
  if (!skip_text(rest, "}") ||
      (counted.most != Pattern::kEndless && counted.most < counted.least)) {
    fail("a count that is none: {n}, {n,} and {n,m} are");
  }
  return counted;
}

Pattern regex_pattern(std::string_view regex, const WriteCharacters& write) {
  return RegexParser(regex, write, false).parse();
}

Pattern regex_search_pattern(std::string_view regex, const WriteCharacters& write) {
  return RegexParser(regex, write, true).parse();
}

Pattern regex_pattern(std::string_view regex) {
  return regex_pattern(regex, [](const CodePoints& set) { return set.utf8(); });
}

}  // namespace mpitron::inference
