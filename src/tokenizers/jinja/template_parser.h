#pragma once
#include "tokenizers/jinja/expression_parser.h"
#include "tokenizers/jinja/statements.h"

namespace mpitron::tokenizers::jinja {

/// Jinja's grammar of statements. What it has and this program lacks (include, extends, ...) is a
/// SyntaxFault that names it.
class TemplateParser {
 public:
  explicit TemplateParser(std::string_view source)
      : tokens_(tokens_of(source)), expressions_(tokens_) {}

  /// Returns the whole template's statements.
  Block parse();

 private:
  using Made = std::unique_ptr<Statement>;
  /// A tag's name and its parser, which gets the tag's line.
  struct Row {
    std::string_view name;
    Made (TemplateParser::*parse)(int line);
  };
  static const Row* find_row(std::string_view name);

  /// Statements up to a block's tag with one of these names, which is the next token then.
  Block block(std::initializer_list<std::string_view> ends);
  /// Reads statements up to the tag `end` and passes over its name.
  Block block_to(std::string_view end);
  Made statement();
  void parse_body(MacroBody& macro, std::string_view end);

  Made parse_if(int line);
  Made parse_for(int line);
  Made parse_set(int line);
  Made parse_with(int line);
  Made parse_macro(int line);
  Made parse_call(int line);
  Made parse_filter(int line);
  Made parse_block(int line);
  Made parse_break(int line);
  Made parse_continue(int line);
  Made parse_generation(int line);

  TokenStream tokens_;
  ExpressionParser expressions_;
  int loops_ = 0;  // around this place
};

}  // namespace mpitron::tokenizers::jinja
