#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::tokenizers::jinja {

/// A piece of a template.
struct Token {
  enum class Kind {
    data,
    variable_begin,
    variable_end,
    block_begin,
    block_end,
    name,
    text,
    integer,
    real,
    sign,
    end
  };
  Kind kind;
  std::string text;  // of a text: without quotes and escapes
  int line;
};

/// A mistake in a template's syntax.
struct SyntaxFault {
  std::string message;
  int line;
};

/// The tokens of a template, the last of kind `end`, as Jinja's lexer finds them with trim_blocks
/// and lstrip_blocks. Throws SyntaxFault. Source: jinja2, lexer.py.
std::vector<Token> tokens_of(std::string_view source);

}  // namespace mpitron::tokenizers::jinja
