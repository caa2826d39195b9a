#include <algorithm>

#include "tokenizers/jinja/expression_parser.h"

// Operators of expressions, from `if` and `else`, which bind least, to signs and powers.

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

}  // namespace mpitron::tokenizers::jinja
