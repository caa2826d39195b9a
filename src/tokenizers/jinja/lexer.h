#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "tokenizers/jinja/token_stream.h"
#include "tokenizers/jinja_values/python_text.h"

namespace mpitron::tokenizers::jinja {

/// Cuts a template into text, tags, and the words inside tags.
class Lexer {
 public:
  using Kind = Token::Kind;

  explicit Lexer(std::string_view source);

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
    line_ += static_cast<int>(std::ranges::count(rest_.substr(0, size), '\n'));
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

}  // namespace mpitron::tokenizers::jinja
