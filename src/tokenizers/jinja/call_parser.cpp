#include <fmt/format.h>

#include "tokenizers/jinja/expression_parser.h"

// Calls and what is called: arguments, filters and tests, and their counterparts, the targets of
// assignments and the parameters of macros.

namespace mpitron::tokenizers::jinja {

/// Reads "(a, *b, c=d, **e)". The order of the four forms is checked as Jinja's parser does, which
/// is less strict than Python.
CallArguments ExpressionParser::arguments() {
  CallArguments all;
  tokens_.expect_sign("(");
  bool first = true;
  const auto ensure = [&](bool holds) {
    if (!holds) {
      tokens_.fail("invalid syntax for function call expression");
    }
  };
  while (!tokens_.at_sign(")")) {
    if (!std::exchange(first, false)) {
      tokens_.expect_sign(",");
      if (tokens_.at_sign(")")) {
        break;
      }
    }
    if (tokens_.skip_sign("*")) {
      ensure(all.more_positional == nullptr && all.more_named == nullptr);
      all.more_positional = expression();
    } else if (tokens_.skip_sign("**")) {
      ensure(all.more_named == nullptr);
      all.more_named = expression();
    } else if (tokens_.at(Token::Kind::name) &&
               TokenStream::is(tokens_.behind(), Token::Kind::sign, "=")) {
      ensure(all.more_named == nullptr);
      std::string name = tokens_.next().text;
      tokens_.next();
      all.named.emplace_back(std::move(name), expression());
    } else {
      ensure(all.named.empty() && all.more_positional == nullptr && all.more_named == nullptr);
      all.positional.push_back(expression());
    }
  }
  tokens_.expect_sign(")");
  return all;
}

/// Looks the filter up while parsing, so that a template with an unknown one is refused at once.
std::unique_ptr<FilterCall> ExpressionParser::filter(ExpressionPtr value) {
  const int line = tokens_.line();
  const std::string name = tokens_.expect_any_name();
  const Filter found = find_filter(name);
  if (found == nullptr) {
    throw SyntaxFault{fmt::format("No filter named '{}'.", name), line};
  }
  return std::make_unique<FilterCall>(line, std::move(value), found,
                                      tokens_.at_sign("(") ? arguments() : CallArguments());
}

std::unique_ptr<FilterCall> ExpressionParser::block_filters(bool begins_with_name) {
  std::unique_ptr<FilterCall> all;
  for (int links = 1; begins_with_name || tokens_.skip_sign("|"); ++links) {
    tokens_.check_chain(links);
    begins_with_name = false;
    all = filter(std::move(all));
  }
  return all;
}

/// Reads what stands behind `is`: a test with arguments in brackets, or with one operand that
/// begins as a literal or a name does.
ExpressionPtr ExpressionParser::test(ExpressionPtr value) {
  const int line = tokens_.next().line;
  const bool negated = tokens_.skip_name("not");
  const std::string name = tokens_.expect_any_name();
  const Test found = find_test(name);
  if (found == nullptr) {
    throw SyntaxFault{fmt::format("No test named '{}'.", name), line};
  }
  CallArguments given;
  const bool operand = tokens_.at(Token::Kind::text) || tokens_.at(Token::Kind::integer) ||
                       tokens_.at(Token::Kind::real) || tokens_.at_sign("[") ||
                       tokens_.at_sign("{") ||
                       (tokens_.at(Token::Kind::name) && !tokens_.at_name("else") &&
                        !tokens_.at_name("or") && !tokens_.at_name("and"));
  if (tokens_.at_sign("(")) {
    given = arguments();
  } else if (operand) {
    if (tokens_.at_name("is")) {
      tokens_.fail("You cannot chain multiple tests with is");
    }
    given.positional.push_back(postfix(primary()));
  }
  ExpressionPtr call = std::make_unique<TestCall>(line, std::move(value), found, std::move(given));
  return negated ? std::make_unique<Unary>(line, '!', std::move(call)) : std::move(call);
}

bool ExpressionParser::is_constant(std::string_view name) {
  return name == "true" || name == "True" || name == "false" || name == "False" || name == "none" ||
         name == "None";
}

Target ExpressionParser::single_target(bool attributes) {
  if (tokens_.at_sign("(")) {
    tokens_.next();
    Target inner = target(attributes);
    tokens_.expect_sign(")");
    return inner;
  }
  Target one{.name = tokens_.expect_any_name(), .attribute = {}, .targets = {}};
  if (is_constant(one.name)) {
    tokens_.fail(fmt::format("can't assign to '{}'", one.name));
  }
  if (attributes && tokens_.skip_sign(".")) {
    one.attribute = tokens_.expect_any_name();
  }
  return one;
}

Target ExpressionParser::target(bool attributes) {
  const TokenStream::Depth deeper(tokens_);
  Target first = single_target(attributes);
  if (!tokens_.at_sign(",")) {
    return first;
  }
  Target all;
  all.targets.push_back(std::move(first));
  while (tokens_.skip_sign(",")) {
    if (at_tuple_end() || tokens_.at_name("in") || tokens_.at_sign("=")) {
      break;
    }
    all.targets.push_back(single_target(attributes));
  }
  return all;
}

std::vector<Parameter> ExpressionParser::parameters() {
  std::vector<Parameter> all;
  tokens_.expect_sign("(");
  while (!tokens_.at_sign(")")) {
    if (!all.empty()) {
      tokens_.expect_sign(",");
    }
    Parameter parameter{tokens_.expect_any_name(), nullptr};
    if (tokens_.skip_sign("=")) {
      parameter.otherwise = expression();
    } else if (!all.empty() && all.back().otherwise != nullptr) {
      tokens_.fail("non-default argument follows default argument");
    }
    all.push_back(std::move(parameter));
  }
  tokens_.expect_sign(")");
  return all;
}

}  // namespace mpitron::tokenizers::jinja
