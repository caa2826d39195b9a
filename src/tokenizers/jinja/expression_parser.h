#pragma once
#include "tokenizers/jinja/expressions.h"
#include "tokenizers/jinja/token_stream.h"

namespace mpitron::tokenizers::jinja {

/// Jinja's grammar of expressions. Filters and tests that are not there are SyntaxFaults.
class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  ExpressionPtr expression();
  /// Expressions with commas between them are a tuple. `conditional`: `a if b` is one of them.
  ExpressionPtr tuple(bool conditional = true);
  /// A tuple that ends in front of a bracket, and may be empty.
  ExpressionPtr tuple_in_brackets();
  /// Reads the left side of an assignment. `attributes`: also `ns.name` of namespaces.
  Target target(bool attributes);
  /// Reads `(a, b=1)` of a macro.
  std::vector<Parameter> parameters();
  /// `| upper | trim(...)`, of a block's text. Null where there is none.
  std::unique_ptr<FilterCall> block_filters(bool begins_with_name);
  /// Names that were read since the last call, to know what a macro's body uses.
  std::vector<std::string> names_read() { return std::exchange(names_, {}); }
  void read_names(std::vector<std::string> names);

 private:
  ExpressionPtr conditional();
  ExpressionPtr logical_or();
  ExpressionPtr logical_and();
  ExpressionPtr logical_not();
  ExpressionPtr comparison();
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool with_filters);
  ExpressionPtr primary();
  ExpressionPtr number();
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr postfix(ExpressionPtr value);
  ExpressionPtr filters_and_tests(ExpressionPtr value);
  ExpressionPtr subscript(ExpressionPtr value);
  ExpressionPtr test(ExpressionPtr value);
  std::unique_ptr<FilterCall> filter(ExpressionPtr value);
  CallArguments arguments();
  /// Returns whether a name is a value of its own ("true", "None"), which nothing can be assigned
  /// to.
  static bool is_constant(std::string_view name);
  Target single_target(bool attributes);
  bool at_tuple_end() const;

  TokenStream& tokens_;
  std::vector<std::string> names_;
};

}  // namespace mpitron::tokenizers::jinja
