#include "tokenizers/jinja/expressions.h"

#include <fmt/format.h>

// Evaluation of parsed expressions. Values are made through `run`, which counts what a template
// spends and keeps its objects; `run.line` names the line of what fails next.

namespace mpitron::tokenizers::jinja {
namespace {

/// Reduces six comparisons to `equal` and `less`, so that a type needs to know these two.
bool holds(Run& run, const std::string& sign, const Value& left, const Value& right) {
  if (sign == "==" || sign == "!=") {
    return equal(run, left, right) == (sign == "==");
  }
  if (sign == "in" || sign == "not in") {
    return contains(run, right, left) == (sign == "in");
  }
  const bool swaps = sign[0] == '>';
  const Value &smaller = swaps ? right : left, &larger = swaps ? left : right;
  if (less(run, smaller, larger, sign)) {
    return true;
  }
  return sign.size() == 2 && equal(run, left, right);
}

}  // namespace

Value Literal::evaluate(Run& /*run*/) const {
  return value;
}

Value Name::evaluate(Run& run) const {
  const Value* found = run.scope().find(name);
  return found != nullptr ? *found : Value::undefined(fmt::format("'{}' is undefined", name));
}

Value ListLiteral::evaluate(Run& run) const {
  List values;
  for (const ExpressionPtr& item : items) {
    values.push_back(run.evaluate(*item));
  }
  return run.list(std::move(values), is_tuple);
}

Value DictLiteral::evaluate(Run& run) const {
  Dict dict;
  for (const auto& [key, value] : items) {
    const Value name = run.evaluate(*key);
    dict.set(name, run.evaluate(*value));
  }
  return run.dict(std::move(dict));
}

Value Attribute::evaluate(Run& run) const {
  return attribute_of(run, run.evaluate(*value), name);
}

Value Element::evaluate(Run& run) const {
  const Value of = run.evaluate(*value);
  return element_of(run, of, run.evaluate(*key));
}

/// Ends that are left out are none, which `slice_of` takes by the sign of the step.
Value Slice::evaluate(Run& run) const {
  const auto end = [&](const ExpressionPtr& expression) {
    return expression == nullptr ? Value() : run.evaluate(*expression);
  };
  const Value of = run.evaluate(*value), first = end(from), last = end(to);
  return slice_of(run, of, first, last, end(step));
}

Value Binary::evaluate(Run& run) const {
  const Value a = run.evaluate(*left);
  const Value b = run.evaluate(*right);
  run.line = line;
  return compute(run, operation, a, b);
}

Value Unary::evaluate(Run& run) const {
  const Value of = run.evaluate(*value);
  if (sign == '!') {
    return !of.truthy();
  }
  return sign == '-' ? negated(of) : negated(negated(of));
}

/// Gives the operand that decides, not a truth value, as Python does; the second is evaluated only
/// where the first leaves it open.
Value Logical::evaluate(Run& run) const {
  Value first = run.evaluate(*left);
  return first.truthy() == is_and ? run.evaluate(*right) : first;
}

Value Concatenation::evaluate(Run& run) const {
  std::string text;
  for (const ExpressionPtr& part : parts) {
    text += text_of(run, run.evaluate(*part));
    run.spend(text.size() / 64);
  }
  return run.text(std::move(text));
}

/// Stops at the first link that does not hold; each operand is evaluated once.
Value Comparison::evaluate(Run& run) const {
  Value left = run.evaluate(*first);
  for (const auto& [sign, operand] : others) {
    Value right = run.evaluate(*operand);
    run.line = line;
    if (!holds(run, sign, left, right)) {
      return false;
    }
    left = std::move(right);
  }
  return true;
}

Value Conditional::evaluate(Run& run) const {
  if (run.evaluate(*condition).truthy()) {
    return run.evaluate(*value);
  }
  return otherwise != nullptr
             ? run.evaluate(*otherwise)
             : Value::undefined(fmt::format("the inline if-expression on line {} evaluated to "
                                            "false and no else section was defined.",
                                            line));
}

}  // namespace mpitron::tokenizers::jinja
