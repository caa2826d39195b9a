#include "tokenizers/jinja/lexer.h"

// From a template's text to tokens, with line numbers: here text and the bounds of tags. White
// space around tags goes as trim_blocks and lstrip_blocks say, which transformers turns on. Source:
// jinja2/lexer.py.

namespace mpitron::tokenizers::jinja {
namespace {

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

}  // namespace

Lexer::Lexer(std::string_view source) : source_(normalized(source)), rest_(source_) {}

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

std::vector<Token> tokens_of(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace mpitron::tokenizers::jinja
