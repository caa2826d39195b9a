#include "inference/grammar/grammar_parser.h"

#include <algorithm>
#include <map>
#include <string>

#include "inference/grammar/regex_parser.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// A recursive descent over GBNF. Classes in brackets are those of regular expressions. A rule ends
// where the next one begins, so that alternatives may stand on lines of their own.

namespace mpitron::inference {
namespace {

constexpr int kDeepestParenthesis = 200;
constexpr std::string_view kDefines = "::=";

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

class GrammarParser {
 public:
  explicit GrammarParser(std::string_view text) : whole_(text), rest_(text) {
    if (!is_utf8(text)) {
      throw_data("a grammar is UTF-8 text");
    }
  }

  Grammar parse() {
    number_of("root");
    for (skip_space(); !rest_.empty(); skip_space()) {
      rule();
    }
    for (const auto& [name, number] : numbers_) {
      if (!defined_[number]) {
        throw_data("the grammar has no rule {}", name);
      }
    }
    return std::move(grammar_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    const auto before = whole_.substr(0, whole_.size() - rest_.size());
    throw_data("the grammar has in line {}: {}", 1 + std::ranges::count(before, '\n'), what);
  }
  bool skip(std::string_view text) {
    const bool here = rest_.starts_with(text);
    rest_.remove_prefix(here ? text.size() : 0);
    return here;
  }
  void skip_space() {
    while (!rest_.empty()) {
      if (rest_.front() == '#') {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (std::string_view(" \t\r\n").find(rest_.front()) != std::string_view::npos) {
        rest_.remove_prefix(1);
      } else {
        return;
      }
    }
  }
  std::string_view name() {
    const auto end = std::ranges::find_if_not(rest_, is_of_name);
    const std::string_view found = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(found.size());
    return found;
  }
  /// Whether a rule begins here.
  bool begins_rule() {
    const std::string_view before = rest_;
    const bool named = !name().empty();
    skip_space();
    const bool begins = named && rest_.starts_with(kDefines);
    rest_ = before;
    return begins;
  }
  std::size_t number_of(std::string_view rule) {
    const auto [at, fresh] = numbers_.try_emplace(std::string(rule), numbers_.size());
    if (fresh) {
      grammar_.rules.emplace_back();
      defined_.push_back(false);
    }
    return at->second;
  }

  void rule();
  Pattern alternatives(int depth);
  Pattern sequence(int depth);
  Pattern element(int depth);
  Pattern repeated(Pattern part);
  Pattern quoted();
  Pattern bracketed();

  std::string_view whole_, rest_;
  Grammar grammar_;
  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::vector<bool> defined_;
};

void GrammarParser::rule() {
  const std::string_view own = name();
  skip_space();
  if (own.empty() || !skip(kDefines)) {
    fail("something else than a rule: name ::= alternatives");
  }
  const std::size_t number = number_of(own);
  if (defined_[number]) {
    fail(fmt::format("the rule {} a second time", own));
  }
  defined_[number] = true;
  Pattern all = alternatives(0);
  grammar_.rules[number] = std::move(all);
}

Pattern GrammarParser::alternatives(int depth) {
  if (depth > kDeepestParenthesis) {
    fail("parentheses nested too deeply");
  }
  std::vector<Pattern> parts;
  do {
    parts.push_back(sequence(depth));
  } while (skip("|"));
  return Pattern::choice(std::move(parts));
}

Pattern GrammarParser::sequence(int depth) {
  std::vector<Pattern> parts;
  for (skip_space(); !rest_.empty() && rest_.front() != '|' && !begins_rule(); skip_space()) {
    if (rest_.front() == ')') {
      if (depth == 0) {
        fail("a ) without a (");
      }
      break;
    }
    parts.push_back(repeated(element(depth)));
  }
  return Pattern::sequence(std::move(parts));
}

Pattern GrammarParser::element(int depth) {
  if (skip("\"")) {
    return quoted();
  }
  if (skip("(")) {
    Pattern inner = alternatives(depth + 1);
    if (!skip(")")) {
      fail("a ( without a )");
    }
    return inner;
  }
  if (skip(".")) {
    return CodePoints::all().utf8();
  }
  if (rest_.front() == '[') {
    return bracketed();
  }
  const std::string_view rule = name();
  if (rule.empty()) {
    fail(fmt::format("{} where a text, a class, a group or a name is expected", rest_.front()));
  }
  return Pattern::rule(number_of(rule));
}

Pattern GrammarParser::repeated(Pattern part) {
  const auto repetition = take_repetition(rest_, [this](std::string_view what) { fail(what); });
  return repetition ? Pattern::repeat(std::move(part), repetition->least, repetition->most) : part;
}

/// Reads a text whose first quote is read: its characters are those of a regular expression without
/// anything that means more than itself there.
Pattern GrammarParser::quoted() {
  std::string regex;
  while (!rest_.starts_with('"')) {
    if (rest_.empty() || rest_ == "\\") {
      fail("a text without an end");
    }
    if (rest_.front() == '\\') {
      if (std::string_view(R"("\[]nrtxu)").find(rest_[1]) == std::string_view::npos) {
        fail("an escape that is not available");
      }
      regex += rest_.substr(0, 2);
      rest_.remove_prefix(2);
    } else {
      const bool means_more =
          std::string_view(R"(^$.|?*+()[]{})").find(rest_.front()) != std::string_view::npos;
      regex += means_more ? "\\" : "";
      regex += rest_.front();
      rest_.remove_prefix(1);
    }
  }
  rest_.remove_prefix(1);
  return regex_pattern(regex);
}

Pattern GrammarParser::bracketed() {
  std::size_t end = 1;
  while (end < rest_.size() && rest_[end] != ']') {
    end += rest_[end] == '\\' ? 2 : 1;
  }
  if (end >= rest_.size()) {
    fail("a [ without a ]");
  }
  const std::string_view own = rest_.substr(0, end + 1);
  rest_.remove_prefix(end + 1);
  return regex_pattern(own);
}

}  // namespace

Grammar parsed_grammar(std::string_view text) {
  return GrammarParser(text).parse();
}

}  // namespace mpitron::inference
