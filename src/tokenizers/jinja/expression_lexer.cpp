#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "tokenizers/jinja/lexer.h"
#include "utils/text/utf8.h"

// The words of expressions inside tags: numbers, texts, names and signs, as Python writes them.

namespace mpitron::tokenizers::jinja {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

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

}  // namespace mpitron::tokenizers::jinja
