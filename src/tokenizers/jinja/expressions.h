#pragma once
#include "tokenizers/jinja_values/operators.h"
#include "tokenizers/jinja_values/syntax.h"

namespace mpitron::tokenizers::jinja {

/// A text or a number; lists and dictionaries are made anew each time.
struct Literal : Expression {
  Literal(int at, Value constant) : Expression(at), value(std::move(constant)) {}
  Value evaluate(Run& run) const override;
  Value value;
};

/// A variable; an unknown one is an undefined value, which fails where it is used.
struct Name : Expression {
  Name(int at, std::string text) : Expression(at), name(std::move(text)) {}
  Value evaluate(Run& run) const override;
  std::string name;
};

/// `[a, b]` and `(a, b)`.
struct ListLiteral : Expression {
  ListLiteral(int at, std::vector<ExpressionPtr> parts, bool tuple)
      : Expression(at), items(std::move(parts)), is_tuple(tuple) {}
  Value evaluate(Run& run) const override;
  std::vector<ExpressionPtr> items;
  bool is_tuple;
};

/// `{key: value}`.
struct DictLiteral : Expression {
  using Expression::Expression;
  Value evaluate(Run& run) const override;
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> items;
};

/// `value.name`: an attribute, else the element of that name.
struct Attribute : Expression {
  Attribute(int at, ExpressionPtr of, std::string text)
      : Expression(at), value(std::move(of)), name(std::move(text)) {}
  Value evaluate(Run& run) const override;
  ExpressionPtr value;
  std::string name;
};

/// `value[key]`: an element, else the attribute of that name.
struct Element : Expression {
  Element(int at, ExpressionPtr of, ExpressionPtr which)
      : Expression(at), value(std::move(of)), key(std::move(which)) {}
  Value evaluate(Run& run) const override;
  ExpressionPtr value, key;
};

/// `a[b:c:d]`; the ends may be null.
struct Slice : Expression {
  Slice(int at, ExpressionPtr of) : Expression(at), value(std::move(of)) {}
  Value evaluate(Run& run) const override;
  ExpressionPtr value, from, to, step;
};

/// `callee(arguments)`.
struct Call : Expression {
  Call(int at, ExpressionPtr what, CallArguments with)
      : Expression(at), callee(std::move(what)), arguments(std::move(with)) {}
  Value evaluate(Run& run) const override;
  /// Calls with one more named argument, `caller`: the body of a call block.
  Value call(Run& run, const std::optional<Value>& caller) const;
  ExpressionPtr callee;
  CallArguments arguments;
};

/// `value | filter(...)`; a null value is a block's text.
struct FilterCall : Expression {
  FilterCall(int at, ExpressionPtr of, Filter what, CallArguments with)
      : Expression(at), value(std::move(of)), filter(what), arguments(std::move(with)) {}
  Value evaluate(Run& run) const override;
  /// Applies the filters, one behind the other, to the value or to a block's `text`.
  Value apply(Run& run, const std::optional<Value>& text) const;
  ExpressionPtr value;
  Filter filter;
  CallArguments arguments;
};

/// `value is test(...)`.
struct TestCall : Expression {
  TestCall(int at, ExpressionPtr of, Test what, CallArguments with)
      : Expression(at), value(std::move(of)), test(what), arguments(std::move(with)) {}
  Value evaluate(Run& run) const override;
  ExpressionPtr value;
  Test test;
  CallArguments arguments;
};

/// Arithmetic of two operands.
struct Binary : Expression {
  Binary(int at, Operation what, ExpressionPtr a, ExpressionPtr b)
      : Expression(at), operation(what), left(std::move(a)), right(std::move(b)) {}
  Value evaluate(Run& run) const override;
  Operation operation;
  ExpressionPtr left, right;
};

/// `-a`, `+a`, `not a`.
struct Unary : Expression {
  Unary(int at, char what, ExpressionPtr of) : Expression(at), sign(what), value(std::move(of)) {}
  Value evaluate(Run& run) const override;
  char sign;  // - + !
  ExpressionPtr value;
};

/// `a and b`, `a or b`: the value of one of them.
struct Logical : Expression {
  Logical(int at, bool both, ExpressionPtr a, ExpressionPtr b)
      : Expression(at), is_and(both), left(std::move(a)), right(std::move(b)) {}
  Value evaluate(Run& run) const override;
  bool is_and;
  ExpressionPtr left, right;
};

/// `a ~ b ~ c`.
struct Concatenation : Expression {
  Concatenation(int at, std::vector<ExpressionPtr> of) : Expression(at), parts(std::move(of)) {}
  Value evaluate(Run& run) const override;
  std::vector<ExpressionPtr> parts;
};

/// `a < b <= c`.
struct Comparison : Expression {
  Comparison(int at, ExpressionPtr of) : Expression(at), first(std::move(of)) {}
  Value evaluate(Run& run) const override;
  ExpressionPtr first;
  std::vector<std::pair<std::string, ExpressionPtr>> others;  // sign and operand
};

/// `a if b else c`; without c undefined.
struct Conditional : Expression {
  using Expression::Expression;
  Value evaluate(Run& run) const override;
  ExpressionPtr condition, value, otherwise;
};

}  // namespace mpitron::tokenizers::jinja
