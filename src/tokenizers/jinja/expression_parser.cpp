#include "tokenizers/jinja/expression_parser.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

// Jinja's expressions by recursive descent, one function for each level of precedence from `a if b
// else c` down to literals. Source: jinja2/parser.py. Nested levels and long chains are counted,
// since requests bring templates along and must not exhaust the stack.

namespace mpitron::tokenizers::jinja {
namespace {

using Kind = Token::Kind;

/// A sign of a left-associative operator.
struct SignRow {
  std::string_view sign;
  Operation operation;
};

constexpr SignRow kSums[] = {{"+", Operation::add}, {"-", Operation::subtract}};
constexpr SignRow kProducts[] = {{"*", Operation::multiply},
                                 {"/", Operation::divide},
                                 {"//", Operation::floor_divide},
                                 {"%", Operation::modulo}};
constexpr SignRow kPowers[] = {{"**", Operation::power}};
constexpr std::string_view kOrders[] = {"==", "!=", "<", "<=", ">", ">="};

/// Reads `a + b - c` and joins it from left to right.
template <class Rows, class Operand>
ExpressionPtr chain(TokenStream& tokens, const Rows& rows, Operand&& operand) {
  ExpressionPtr left = operand();
  for (int links = 1;; ++links) {
    const auto* const row =
        std::ranges::find_if(rows, [&](const SignRow& each) { return tokens.at_sign(each.sign); });
    if (row == std::end(rows)) {
      return left;
    }
    tokens.check_chain(links);
    const int line = tokens.next().line;
    left = std::make_unique<Binary>(line, row->operation, std::move(left), operand());
  }
}

}  // namespace

void ExpressionParser::read_names(std::vector<std::string> names) {
  names_.insert(names_.end(), std::make_move_iterator(names.begin()),
                std::make_move_iterator(names.end()));
}

ExpressionPtr ExpressionParser::expression() {
  return conditional();
}

/// conditional := or ("if" or ["else" conditional])*. Without `else` a condition that fails gives
/// an undefined value.
ExpressionPtr ExpressionParser::conditional() {
  const TokenStream::Depth deeper(tokens_);
  ExpressionPtr value = logical_or();
  for (int links = 1; tokens_.at_name("if"); ++links) {
    tokens_.check_chain(links);
    auto chosen = std::make_unique<Conditional>(tokens_.next().line);
    chosen->value = std::move(value);
    chosen->condition = logical_or();
    if (tokens_.skip_name("else")) {
      chosen->otherwise = conditional();
    }
    value = std::move(chosen);
  }
  return value;
}

/// or := and ("or" and)*
ExpressionPtr ExpressionParser::logical_or() {
  ExpressionPtr left = logical_and();
  for (int links = 1; tokens_.at_name("or"); ++links) {
    tokens_.check_chain(links);
    const int line = tokens_.next().line;
    left = std::make_unique<Logical>(line, false, std::move(left), logical_and());
  }
  return left;
}

/// and := not ("and" not)*
ExpressionPtr ExpressionParser::logical_and() {
  ExpressionPtr left = logical_not();
  for (int links = 1; tokens_.at_name("and"); ++links) {
    tokens_.check_chain(links);
    const int line = tokens_.next().line;
    left = std::make_unique<Logical>(line, true, std::move(left), logical_not());
  }
  return left;
}

/// not := "not" not | comparison
ExpressionPtr ExpressionParser::logical_not() {
  if (tokens_.at_name("not")) {
    const TokenStream::Depth deeper(tokens_);
    const int line = tokens_.next().line;
    return std::make_unique<Unary>(line, '!', logical_not());
  }
  return comparison();
}

/// comparison := sum (("==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not" "in") sum)*. Links of a
/// chain are all to hold, as in Python: a < b < c.
ExpressionPtr ExpressionParser::comparison() {
  ExpressionPtr first = sum();
  std::unique_ptr<Comparison> all;
  for (;;) {
    std::string sign;
    const int line = tokens_.line();
    if (tokens_.at(Kind::sign) &&
        std::ranges::find(kOrders, tokens_.now().text) != std::end(kOrders)) {
      sign = tokens_.next().text;
    } else if (tokens_.skip_name("in")) {
      sign = "in";
    } else if (tokens_.at_name("not") && TokenStream::is(tokens_.behind(), Kind::name, "in")) {
      tokens_.next();
      tokens_.next();
      sign = "not in";
    } else {
      return all != nullptr ? std::move(all) : std::move(first);
    }
    if (all == nullptr) {
      all = std::make_unique<Comparison>(line, std::move(first));
    }
    all->others.emplace_back(sign, sum());
  }
}

/// sum := concatenation (("+" | "-") concatenation)*
ExpressionPtr ExpressionParser::sum() {
  return chain(tokens_, kSums, [&] { return concatenation(); });
}

/// concatenation := product ("~" product)*. It binds tighter than + in Jinja's grammar.
ExpressionPtr ExpressionParser::concatenation() {
  const int line = tokens_.line();
  std::vector<ExpressionPtr> parts;
  parts.push_back(product());
  while (tokens_.skip_sign("~")) {
    parts.push_back(product());
  }
  return parts.size() == 1 ? std::move(parts.front())
                           : std::make_unique<Concatenation>(line, std::move(parts));
}

/// product := power (("*" | "/" | "//" | "%") power)*
ExpressionPtr ExpressionParser::product() {
  return chain(tokens_, kProducts, [&] { return power(); });
}

/// power := unary ("**" unary)*, from left to right, unlike Python's.
ExpressionPtr ExpressionParser::power() {
  return chain(tokens_, kPowers, [&] { return unary(true); });
}

/// A sign binds weaker than subscripts and calls and stronger than filters: -x.y|abs is
/// (-(x.y))|abs.
ExpressionPtr ExpressionParser::unary(bool with_filters) {
  ExpressionPtr value;
  if (tokens_.at_sign("-") || tokens_.at_sign("+")) {
    const TokenStream::Depth deeper(tokens_);
    const Token sign = tokens_.next();
    value = std::make_unique<Unary>(sign.line, sign.text[0], unary(false));
  } else {
    value = primary();
  }
  value = postfix(std::move(value));
  return with_filters ? filters_and_tests(std::move(value)) : std::move(value);
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
