#include <cstdlib>

#include "tokenizers/jinja/expression_parser.h"

// Literals of expressions: numbers, lists, dictionaries and tuples.

namespace mpitron::tokenizers::jinja {
namespace {

using Kind = Token::Kind;

}  // namespace

ExpressionPtr ExpressionParser::number() {
  const Token token = tokens_.next();
  if (token.kind == Kind::real) {
    return std::make_unique<Literal>(token.line, std::strtod(token.text.c_str(), nullptr));
  }
  return std::make_unique<Literal>(
      token.line, static_cast<std::int64_t>(std::strtoll(token.text.c_str(), nullptr, 10)));
}

/// list := "[" [expression ("," expression)* [","]] "]"
ExpressionPtr ExpressionParser::list() {
  const int line = tokens_.next().line;
  std::vector<ExpressionPtr> items;
  while (!tokens_.at_sign("]")) {
    if (!items.empty()) {
      tokens_.expect_sign(",");
      if (tokens_.at_sign("]")) {
        break;
      }
    }
    items.push_back(expression());
  }
  tokens_.expect_sign("]");
  return std::make_unique<ListLiteral>(line, std::move(items), false);
}

/// dict := "{" [expression ":" expression ("," expression ":" expression)* [","]] "}"
ExpressionPtr ExpressionParser::dict() {
  auto made = std::make_unique<DictLiteral>(tokens_.next().line);
  while (!tokens_.at_sign("}")) {
    if (!made->items.empty()) {
      tokens_.expect_sign(",");
      if (tokens_.at_sign("}")) {
        break;
      }
    }
    ExpressionPtr key = expression();
    tokens_.expect_sign(":");
    made->items.emplace_back(std::move(key), expression());
  }
  tokens_.expect_sign("}");
  return made;
}

bool ExpressionParser::at_tuple_end() const {
  return tokens_.at(Kind::variable_end) || tokens_.at(Kind::block_end) || tokens_.at_sign(")");
}

/// One expression without a comma is itself, no tuple.
ExpressionPtr ExpressionParser::tuple(bool conditional_too) {
  const int line = tokens_.line();
  std::vector<ExpressionPtr> items;
  bool is_tuple = false;
  const auto one = [&] { return conditional_too ? expression() : logical_or(); };
  items.push_back(one());
  while (tokens_.skip_sign(",")) {
    is_tuple = true;
    if (at_tuple_end()) {
      break;
    }
    items.push_back(one());
  }
  return is_tuple ? std::make_unique<ListLiteral>(line, std::move(items), true)
                  : std::move(items.front());
}

ExpressionPtr ExpressionParser::tuple_in_brackets() {
  if (tokens_.at_sign(")")) {
    return std::make_unique<ListLiteral>(tokens_.line(), std::vector<ExpressionPtr>(), true);
  }
  return tuple();
}

}  // namespace mpitron::tokenizers::jinja
