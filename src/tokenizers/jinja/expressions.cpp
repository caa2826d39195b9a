#include "tokenizers/jinja/expressions.h"

#include <fmt/format.h>

// Evaluation of parsed expressions. Values are made through `run`, which counts what a template
// spends and keeps its objects; `run.line` names the line of what fails next.

namespace mpitron::tokenizers::jinja {
namespace {

/// The name under which messages speak of what cannot be called.
[[noreturn]] void not_callable(const Value& callee) {
  require_defined(callee);
  throw Fault(fmt::format("'{}' object is not callable", callee.type_name()));
}

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

/// Order of Python: positional, named, then what * and ** unpack.
Arguments CallArguments::evaluate(Run& run) const {
  Arguments values;
  for (const ExpressionPtr& each : positional) {
    values.positional.push_back(run.evaluate(*each));
  }
  for (const auto& [name, each] : named) {
    values.named.emplace_back(name, run.evaluate(*each));
  }
  if (more_positional != nullptr) {
    const List more = elements_of(run, run.evaluate(*more_positional));
    values.positional.insert(values.positional.end(), more.begin(), more.end());
  }
  if (more_named != nullptr) {
    const Value more = run.evaluate(*more_named);
    if (more.dict() == nullptr) {
      throw Fault("argument after ** must be a mapping, not " + std::string(more.type_name()));
    }
    run.spend(more.dict()->size());
    for (const auto& [name, each] : more.dict()->items()) {
      values.named.emplace_back(text_of(run, name), each);
    }
  }
  return values;
}

Value Call::evaluate(Run& run) const {
  return call(run, std::nullopt);
}

/// Looks for a method of the value's type before an attribute that can be called, as Python does.
/// Arguments are evaluated after the callee.
Value Call::call(Run& run, const std::optional<Value>& caller) const {
  const auto given = [&] {
    Arguments values = arguments.evaluate(run);
    if (caller) {
      values.named.emplace_back("caller", *caller);
    }
    run.line = line;
    return values;
  };
  if (const auto* method = dynamic_cast<const Attribute*>(callee.get())) {
    const Value self = run.evaluate(*method->value);
    require_defined(self);
    const Method found = find_method(self, method->name);
    if (found != nullptr) {
      return found(run, self, given());
    }
    const Value what = attribute_of(run, self, method->name);
    if (what.object() == nullptr) {
      not_callable(what);
    }
    return what.object()->call(run, given());
  }
  const Value what = run.evaluate(*callee);
  if (what.object() == nullptr) {
    not_callable(what);
  }
  return what.object()->call(run, given());
}

Value FilterCall::evaluate(Run& run) const {
  return apply(run, std::nullopt);
}

/// Applies a chain of filters from the innermost on. A chain of a block has no value of its own:
/// `text` takes its place at the inner end.
Value FilterCall::apply(Run& run, const std::optional<Value>& text) const {
  Value of;
  if (value == nullptr) {
    of = text.value_or(Value());
  } else if (const auto* inner = dynamic_cast<const FilterCall*>(value.get())) {
    of = run.deeper([&] { return inner->apply(run, text); });
  } else {
    of = run.evaluate(*value);
  }
  const Arguments values = arguments.evaluate(run);
  run.line = line;
  return filter(run, of, values);
}

Value TestCall::evaluate(Run& run) const {
  const Value of = run.evaluate(*value);
  const Arguments values = arguments.evaluate(run);
  run.line = line;
  return test(run, of, values);
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
