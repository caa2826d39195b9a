#include <fmt/format.h>

#include "tokenizers/jinja/expressions.h"

// Evaluates calls: of macros, functions and methods, of filters and of tests.

namespace mpitron::tokenizers::jinja {
namespace {

/// The name under which messages speak of what cannot be called.
[[noreturn]] void not_callable(const Value& callee) {
  require_defined(callee);
  throw Fault(fmt::format("'{}' object is not callable", callee.type_name()));
}

}  // namespace

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

}  // namespace mpitron::tokenizers::jinja
