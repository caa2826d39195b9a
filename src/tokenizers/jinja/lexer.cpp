#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "tokenizers/jinja/token_stream.h"
#include "tokenizers/jinja_values/python_text.h"
#include "utils/text/utf8.h"

// From a template's text to tokens: text, tags, and the words inside tags, with line numbers. White
// space around tags goes as trim_blocks and lstrip_blocks say, which transformers turns on. Source:
// jinja2/lexer.py.

namespace mpitron::tokenizers::jinja {
namespace {

using Kind = Token::Kind;

int newlines_in(std::string_view text) {
  return static_cast<int>(std::ranges::count(text, '\n'));
}

/// Turns all line ends into \n and drops the last one, as jinja2 does.
std::string normalized(std::string_view source) {
  std::string text;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      i += i + 1 < source.size() && source[i + 1] == '\n';
      text += '\n';
    } else {
      text += source[i];
    }
  }
  if (text.ends_with('\n')) {
    text.pop_back();
  }
  return text;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalized(source)), rest_(source_) {}

  std::vector<Token> run() {
    while (!rest_.empty()) {
      read_data();
    }
    add(Kind::end, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw SyntaxFault{message, line_}; }
  void add(Kind kind, std::string_view text) {
    tokens_.push_back({kind, std::string(text), line_});
  }
  /// Passes over `size` bytes, counts their lines, and remembers whether a line has just begun.
  void skip(std::size_t size) {
    line_ += newlines_in(rest_.substr(0, size));
    line_starting_ = size > 0 ? rest_[size - 1] == '\n' : line_starting_;
    rest_.remove_prefix(size);
  }
  std::size_t spaces(std::size_t from) const {
    std::size_t size = 0;
    while (const std::size_t more = space_at(rest_.substr(from + size))) {
      size += more;
    }
    return size;
  }

  void read_data();
  void add_data(std::string_view text, char sign, bool is_variable);
  void read_comment();
  std::size_t raw_begin(std::size_t at) const;
  void read_raw();
  void read_tag(bool is_variable);
  std::size_t tag_end(std::size_t at, std::string_view end, bool trims) const;
  void read_expression_token();
  bool read_number_of_base();
  void read_number();
  void read_text();
  void read_name();
  void read_sign();

  std::string source_;
  std::string_view rest_;
  int line_ = 1;
  bool line_starting_ = true;
  std::string open_;  // brackets that wait for their end
  std::vector<Token> tokens_;
};

/// Reads the text up to the next tag, and the tag.
void Lexer::read_data() {
  std::size_t at = 0;
  while (at + 1 < rest_.size() &&
         !(rest_[at] == '{' &&
           (rest_[at + 1] == '{' || rest_[at + 1] == '%' || rest_[at + 1] == '#'))) {
    ++at;
  }
  if (at + 1 >= rest_.size()) {
    add_data(rest_, '+', true);
    skip(rest_.size());
    return;
  }
  const char kind = rest_[at + 1];
  const char sign = at + 2 < rest_.size() ? rest_[at + 2] : ' ';
  add_data(rest_.substr(0, at), sign, kind == '{');
  if (kind == '%') {
    if (const std::size_t raw = raw_begin(at)) {
      skip(raw);
      read_raw();
      return;
    }
  }
  skip(at + 2 + (sign == '-' || sign == '+' ? 1 : 0));
  if (kind == '#') {
    read_comment();
  } else {
    add(kind == '{' ? Kind::variable_begin : Kind::block_begin, "");
    read_tag(kind == '{');
  }
}

/// Adds the text in front of a tag: `{%-` takes all white space before it away, and a block's tag
/// that begins its line what stands before it in the line.
void Lexer::add_data(std::string_view text, char sign, bool is_variable) {
  std::string_view kept = text;
  if (sign == '-') {
    kept = strip_right(text);
  } else if (sign != '+' && !is_variable) {
    const std::size_t line = text.rfind('\n') + 1;  // 0 where there is none
    if ((line > 0 || line_starting_) && strip_right(text.substr(line)).empty()) {
      kept = text.substr(0, line);
    }
  }
  if (!kept.empty()) {
    add(Kind::data, kept);
  }
}

/// Returns the size of a tag's end with what it takes away behind it; 0 where there is none at
/// `at`.
std::size_t Lexer::tag_end(std::size_t at, std::string_view end, bool trims) const {
  const std::string_view text = rest_.substr(at);
  if (text.starts_with('-') && text.substr(1).starts_with(end)) {
    return 1 + end.size() + spaces(at + 1 + end.size());
  }
  if (trims && text.starts_with('+') && text.substr(1).starts_with(end)) {
    return 1 + end.size();
  }
  if (text.starts_with(end)) {
    return end.size() + (trims && text.substr(end.size()).starts_with('\n') ? 1 : 0);
  }
  return 0;
}

/// Passes over a comment; its end takes white space away as a tag's does.
void Lexer::read_comment() {
  for (std::size_t at = 0; at < rest_.size(); ++at) {
    if (const std::size_t end = tag_end(at, "#}", true)) {
      skip(at + end);
      return;
    }
  }
  fail("Missing end of comment tag");
}

/// Returns the size of what is up to the end of `{% raw %}` at `at`; 0 for another tag.
std::size_t Lexer::raw_begin(std::size_t at) const {
  std::size_t i = at + 2;
  i += i < rest_.size() && (rest_[i] == '-' || rest_[i] == '+');
  i += spaces(i);
  if (!rest_.substr(i).starts_with("raw")) {
    return 0;
  }
  i += 3;
  i += spaces(i);
  if (rest_.substr(i).starts_with("-%}")) {
    return i + 3 + spaces(i + 3);
  }
  return rest_.substr(i).starts_with("%}") ? i + 2 : 0;
}

/// Takes everything up to `{% endraw %}` as text.
void Lexer::read_raw() {
  for (std::size_t at = rest_.find("{%"); at != std::string_view::npos;
       at = rest_.find("{%", at + 1)) {
    std::size_t i = at + 2;
    const char sign = i < rest_.size() ? rest_[i] : ' ';
    i += sign == '-' || sign == '+';
    i += spaces(i);
    if (!rest_.substr(i).starts_with("endraw")) {
      continue;
    }
    i += 6;
    i += spaces(i);
    if (const std::size_t end = tag_end(i, "%}", true)) {
      add_data(rest_.substr(0, at), sign, false);
      skip(i + end);
      return;
    }
  }
  fail("Missing end of raw directive");
}

/// Brackets hide the end of a tag: `{{ {"a": {}} }}` ends at its last braces only.
void Lexer::read_tag(bool is_variable) {
  while (!rest_.empty()) {
    if (const std::size_t space = spaces(0)) {
      skip(space);
      continue;
    }
    const std::size_t end = open_.empty() ? tag_end(0, is_variable ? "}}" : "%}", !is_variable) : 0;
    if (end > 0) {
      add(is_variable ? Kind::variable_end : Kind::block_end, "");
      skip(end);
      return;
    }
    read_expression_token();
  }
  open_.clear();
}

void Lexer::read_expression_token() {
  const char c = rest_.front();
  if (is_digit(c)) {
    read_number();
  } else if (c == '\'' || c == '"') {
    read_text();
  } else if (word_at(rest_) > 0) {
    read_name();
  } else {
    read_sign();
  }
}

/// Reads `0x1F`, `0o17` or `0b1`; false where the number is a decimal one.
bool Lexer::read_number_of_base() {
  const char mark = rest_.size() > 2 && rest_[0] == '0' ? static_cast<char>(rest_[1] | 0x20) : ' ';
  const int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
  if (base == 0) {
    return false;
  }
  std::int64_t number = 0;
  const char* const end = rest_.data() + rest_.size();
  const auto read = std::from_chars(rest_.data() + 2, end, number, base);
  if (read.ec != std::errc()) {
    return false;
  }
  add(Kind::integer, fmt::format("{}", number));
  skip(static_cast<std::size_t>(read.ptr - rest_.data()));
  return true;
}

/// Reads digits with `_` between them, with a point or an exponent if there is one. Integers of
/// more than 18 digits, which 64 bits may not hold, and those with a leading zero, which Python
/// refuses, are errors.
void Lexer::read_number() {
  if (read_number_of_base()) {
    return;
  }
  const auto digits = [&](std::size_t from) {
    std::size_t i = from;
    while (i < rest_.size() &&
           (is_digit(rest_[i]) ||
            (rest_[i] == '_' && i > from && i + 1 < rest_.size() && is_digit(rest_[i + 1])))) {
      ++i;
    }
    return i;
  };
  const bool behind_dot = tokens_.back().kind == Kind::sign && tokens_.back().text == ".";
  std::size_t end = digits(0);
  bool real = false;
  if (!behind_dot && end + 1 < rest_.size() && rest_[end] == '.' && is_digit(rest_[end + 1])) {
    end = digits(end + 1);
    real = true;
  }
  if (!behind_dot && end < rest_.size() && (rest_[end] == 'e' || rest_[end] == 'E')) {
    const std::size_t sign =
        end + 1 < rest_.size() && (rest_[end + 1] == '+' || rest_[end + 1] == '-');
    if (const std::size_t last = digits(end + 1 + sign); last > end + 1 + sign) {
      end = last;
      real = true;
    }
  }
  std::string text(rest_.substr(0, end));
  std::erase(text, '_');
  if (!real && (text.size() > 18 || (text.size() > 1 && text[0] == '0' &&
                                     text.find_first_not_of('0') != std::string::npos))) {
    fail(fmt::format("the number {} is not available", text));
  }
  add(real ? Kind::real : Kind::integer, text);
  skip(end);
}

/// Reads a text in single or double quotes, with Python's escapes.
void Lexer::read_text() {
  const char quote = rest_.front();
  std::size_t end = 1;
  while (end < rest_.size() && rest_[end] != quote) {
    end += rest_[end] == '\\' ? 2 : 1;
  }
  if (end >= rest_.size()) {
    fail(fmt::format("unexpected char {} at {}", quote, rest_.data() - source_.data()));
  }
  const auto text = unescape(rest_.substr(1, end - 1));
  if (!text) {
    fail("a text has an escape that is not available");
  }
  add(Kind::text, *text);
  skip(end + 1);
}

void Lexer::read_name() {
  std::size_t end = 0;
  while (const std::size_t more = word_at(rest_.substr(end))) {
    end += more;
  }
  add(Kind::name, rest_.substr(0, end));
  skip(end);
}

/// Reads the longest sign, and keeps track of brackets: those that do not match end the template
/// here.
void Lexer::read_sign() {
  constexpr std::string_view kTwo[] = {"//", "**", "==", "!=", ">=", "<="};
  std::string_view sign = rest_.substr(0, 2);
  if (std::ranges::find(kTwo, sign) == std::end(kTwo)) {
    sign = rest_.substr(0, 1);
    if (std::string_view("+-/*%~[](){}><=.:|,;").find(sign[0]) == std::string_view::npos) {
      fail(fmt::format("unexpected char '{}' at {}",
                       rest_.substr(0, std::max(1, decode_utf8(rest_).bytes)),
                       rest_.data() - source_.data()));
    }
  }
  constexpr std::string_view kOpen = "([{", kClose = ")]}";
  if (kOpen.find(sign[0]) != std::string_view::npos) {
    open_ += kClose[kOpen.find(sign[0])];
  } else if (kClose.find(sign[0]) != std::string_view::npos) {
    if (open_.empty()) {
      fail(fmt::format("unexpected '{}'", sign));
    }
    if (open_.back() != sign[0]) {
      fail(fmt::format("unexpected '{}', expected '{}'", sign, open_.back()));
    }
    open_.pop_back();
  }
  add(Kind::sign, sign);
  skip(sign.size());
}

}  // namespace

std::vector<Token> tokens_of(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace mpitron::tokenizers::jinja
