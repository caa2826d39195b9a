#include "tokenizers/jinja/expression_parser.h"

#include <array>

#include <fmt/format.h>

// Jinja's expressions by recursive descent: values, what stands behind them, and the entry to the
// levels of precedence. Source: jinja2/parser.py. Nested levels and long chains are counted, since
// requests bring templates along and must not exhaust the stack.

namespace mpitron::tokenizers::jinja {
namespace {

using Kind = Token::Kind;

}  // namespace

void ExpressionParser::read_names(std::vector<std::string> names) {
  names_.insert(names_.end(), std::make_move_iterator(names.begin()),
                std::make_move_iterator(names.end()));
}

ExpressionPtr ExpressionParser::expression() {
  return conditional();
}

/// primary := name | text+ | number | "(" tuple ")" | list | dict. Neighbouring texts are one, as
/// in Python.
ExpressionPtr ExpressionParser::primary() {
  const int line = tokens_.line();
  switch (tokens_.now().kind) {
    case Kind::name: {
      const std::string name = tokens_.next().text;
      if (is_constant(name)) {
        const bool none = name == "none" || name == "None";
        return std::make_unique<Literal>(line,
                                         none ? Value() : Value(name == "true" || name == "True"));
      }
      names_.push_back(name);
      return std::make_unique<Name>(line, name);
    }
    case Kind::text: {
      std::string text;
      while (tokens_.at(Kind::text)) {
        text += tokens_.next().text;
      }
      return std::make_unique<Literal>(line, text);
    }
    case Kind::integer:
    case Kind::real:
      return number();
    default:
      break;
  }
  if (tokens_.skip_sign("(")) {
    ExpressionPtr inner = tuple_in_brackets();
    tokens_.expect_sign(")");
    return inner;
  }
  if (tokens_.at_sign("[")) {
    return list();
  }
  if (tokens_.at_sign("{")) {
    return dict();
  }
  tokens_.fail("unexpected " + TokenStream::described(tokens_.now()));
}

/// postfix := value ("." name | "." integer | "[" slice "]" | "(" arguments ")")*
ExpressionPtr ExpressionParser::postfix(ExpressionPtr value) {
  for (int links = 1;; ++links) {
    tokens_.check_chain(links);
    const int line = tokens_.line();
    if (tokens_.at_sign(".") || tokens_.at_sign("[")) {
      value = subscript(std::move(value));
    } else if (tokens_.at_sign("(")) {
      value = std::make_unique<Call>(line, std::move(value), arguments());
    } else {
      return value;
    }
  }
}

/// A bracket behind a filter or test calls its result.
ExpressionPtr ExpressionParser::filters_and_tests(ExpressionPtr value) {
  for (int links = 1;; ++links) {
    tokens_.check_chain(links);
    const int line = tokens_.line();
    if (tokens_.skip_sign("|")) {
      value = filter(std::move(value));
    } else if (tokens_.at_name("is")) {
      value = test(std::move(value));
    } else if (tokens_.at_sign("(")) {
      value = std::make_unique<Call>(line, std::move(value), arguments());
    } else {
      return value;
    }
  }
}

/// slice := expression | [expression] ":" [expression] [":" [expression]]
ExpressionPtr ExpressionParser::subscript(ExpressionPtr value) {
  const int line = tokens_.line();
  if (tokens_.skip_sign(".")) {
    if (tokens_.at(Kind::name)) {
      return std::make_unique<Attribute>(line, std::move(value), tokens_.next().text);
    }
    if (!tokens_.at(Kind::integer)) {
      tokens_.fail("expected name or number");
    }
    return std::make_unique<Element>(line, std::move(value), number());
  }
  tokens_.expect_sign("[");
  ExpressionPtr first = tokens_.at_sign(":") ? nullptr : expression();
  if (!tokens_.at_sign(":")) {
    tokens_.expect_sign("]");
    return std::make_unique<Element>(line, std::move(value), std::move(first));
  }
  auto slice = std::make_unique<Slice>(line, std::move(value));
  slice->from = std::move(first);
  tokens_.expect_sign(":");
  if (!tokens_.at_sign(":") && !tokens_.at_sign("]")) {
    slice->to = expression();
  }
  if (tokens_.skip_sign(":") && !tokens_.at_sign("]")) {
    slice->step = expression();
  }
  tokens_.expect_sign("]");
  return slice;
}

}  // namespace mpitron::tokenizers::jinja
