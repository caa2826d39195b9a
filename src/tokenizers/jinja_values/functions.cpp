#include <array>
#include <ctime>

#include <fmt/format.h>

#include "tokenizers/jinja_values/operators.h"

// Functions that every template may call: Jinja's range, dict, namespace and joiner, and those that
// transformers adds for chat templates (raise_exception, strftime_now).

namespace mpitron::tokenizers::jinja {
namespace {

/// A function of this file as a value.
class Function : public Object {
 public:
  using Body = Value (*)(Run&, const Arguments&);
  explicit Function(Body body) : body_(body) {}
  std::string_view type_name() const override { return "function"; }
  bool callable() const override { return true; }
  Value call(Run& run, const Arguments& arguments) override { return body_(run, arguments); }

 private:
  Body body_;
};

/// Holds attributes that `set` may change, also from inside a loop, whose own variables end with a
/// round.
class Namespace : public Object {
 public:
  std::string_view type_name() const override { return "Namespace"; }
  std::optional<Value> attribute(const std::string& name) override {
    const Value* found = values_.find_name(name);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  bool set_attribute(const std::string& name, Value value) override {
    values_.set(name, std::move(value));
    return true;
  }

 private:
  Dict values_;
};

/// Returns nothing the first time it is called, then its separator.
class Joiner : public Object {
 public:
  explicit Joiner(std::string separator) : separator_(std::move(separator)) {}
  std::string_view type_name() const override { return "Joiner"; }
  bool callable() const override { return true; }
  Value call(Run& /*run*/, const Arguments& /*arguments*/) override {
    return std::exchange(used_, true) ? Value(separator_) : Value("");
  }

 private:
  std::string separator_;
  bool used_ = false;
};

/// Joins a dictionary with named arguments, as dict() does.
Dict merged(const Arguments& arguments) {
  Dict dict;
  for (const Value& each : arguments.positional) {
    if (each.dict() == nullptr) {
      throw Fault("dict and namespace take dictionaries and named arguments");
    }
    dict = *each.dict();
  }
  for (const auto& [name, value] : arguments.named) {
    dict.set(name, value);
  }
  return dict;
}

Value make_dict(Run& run, const Arguments& arguments) {
  return run.dict(merged(arguments));
}

Value make_namespace(Run& run, const Arguments& arguments) {
  Namespace& made = run.make<Namespace>();
  const Dict values = merged(arguments);
  for (const auto& [name, value] : values.items()) {
    made.set_attribute(text_of(run, name), value);
  }
  return made;
}

Value range(Run& run, const Arguments& arguments) {
  const auto bound = arguments.bind("range", {"start", "stop", "step"}, 1);
  const bool has_start = bound.has(1);
  const std::int64_t start = has_start ? bound.integer(0, 0) : 0;
  const std::int64_t stop = bound.integer(has_start ? 1 : 0, 0), step = bound.integer(2, 1);
  if (step == 0) {
    throw Fault("range() arg 3 must not be zero");
  }
  List numbers;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop;) {
    numbers.emplace_back(i);
    run.spend();
    if (__builtin_add_overflow(i, step, &i)) {
      break;
    }
  }
  return run.list(std::move(numbers));
}

Value make_joiner(Run& run, const Arguments& arguments) {
  return run.make<Joiner>(arguments.bind("joiner", {"sep"}).text(0, ", "));
}

Value raise_exception(Run& run, const Arguments& arguments) {
  throw Fault(text_of(run, arguments.bind("raise_exception", {"message"}, 1)[0]), true);
}

/// Tests and recorded runs set limits.now, so that their texts repeat.
Value strftime_now(Run& run, const Arguments& arguments) {
  const std::string format = arguments.bind("strftime_now", {"format"}, 1).text(0, "");
  const std::time_t now = run.limits().now.value_or(std::time(nullptr));
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, 512> text{};
  if (format.size() > 100) {
    throw Fault("a format of strftime_now has at most 100 characters");
  }
  return std::string(text.data(), std::strftime(text.data(), text.size(), format.c_str(), &parts));
}

}  // namespace

/// Variables of the caller hide functions of the same name.
void define_functions(Run& run) {
  constexpr std::pair<const char*, Function::Body> kFunctions[] = {
      {"range", range},
      {"dict", make_dict},
      {"namespace", make_namespace},
      {"joiner", make_joiner},
      {"raise_exception", raise_exception},
      {"strftime_now", strftime_now},
  };
  for (const auto& [name, body] : kFunctions) {
    if (run.global().find(name) == nullptr) {
      run.global().set(name, run.make<Function>(body));
    }
  }
}

}  // namespace mpitron::tokenizers::jinja
