#include <algorithm>

#include <fmt/format.h>

#include "tokenizers/jinja/statements.h"

// Macros: what `macro` and `call` define, and how a template calls them.

namespace mpitron::tokenizers::jinja {
namespace {

/// A macro with the variables that it saw where it was defined. Those of the template itself it
/// sees as they are when it is called.
class Macro : public Object {
 public:
  Macro(Run& run, const MacroBody& body) : body_(body), scope_(&run.global()) {
    for (const auto& [name, value] : run.scope().seen(&run.global())) {
      if (scope_.find(name) == run.global().find(name)) {  // the innermost comes first
        scope_.set(name, value);
        run.spend();
      }
    }
  }
  std::string_view type_name() const override { return "Macro"; }
  bool callable() const override { return true; }

  std::optional<Value> attribute(const std::string& name) override {
    return name == "name" ? std::optional<Value>(body_.name) : std::nullopt;
  }

  Value call(Run& run, const Arguments& arguments) override {
    return run.deeper([&] {
      Scope scope(&scope_);
      return run.within(scope, [&] {
        bind(run, arguments);
        return run.text(run.captured([&] { execute(run, body_.body); }));
      });
    });
  }

 private:
  /// Puts arguments into the macro's scope by Jinja's rules: positions first, names after them, the
  /// rest into `varargs` and `kwargs` only where the body uses these names.
  void bind(Run& run, const Arguments& arguments) const {
    const auto& parameters = body_.parameters;
    List more;
    if (arguments.positional.size() > parameters.size()) {
      if (!body_.takes_more) {
        throw Fault(fmt::format("macro '{}' takes not more than {} argument(s)", body_.name,
                                parameters.size()));
      }
      more.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(parameters.size()),
                  arguments.positional.end());
    }
    Dict rest;
    for (const auto& [name, value] : arguments.named) {
      const auto found = std::ranges::find(parameters, name, &Parameter::name);
      if (found != parameters.end()) {
        const auto place = static_cast<std::size_t>(found - parameters.begin());
        if (place < arguments.positional.size()) {
          throw Fault(
              fmt::format("macro '{}' got multiple values for argument '{}'", body_.name, name));
        }
        run.scope().set(name, value);
      } else if (name == "caller" && body_.calls_back) {
        run.scope().set(name, value);
      } else if (body_.takes_more_named) {
        rest.set(name, value);
      } else {
        throw Fault(fmt::format("macro '{}' takes no keyword argument '{}'", body_.name, name));
      }
    }
    set_parameters(run, arguments);
    if (body_.takes_more) {
      run.scope().set("varargs", run.list(std::move(more), true));
    }
    if (body_.takes_more_named) {
      run.scope().set("kwargs", run.dict(std::move(rest)));
    }
  }

  /// Sets positional parameters, and the defaults of those that nobody gave; defaults may name
  /// parameters before them.
  void set_parameters(Run& run, const Arguments& arguments) const {
    for (std::size_t i = 0; i < body_.parameters.size(); ++i) {
      const Parameter& parameter = body_.parameters[i];
      const auto named =
          std::ranges::find(arguments.named, parameter.name, &std::pair<std::string, Value>::first);
      if (i < arguments.positional.size()) {
        run.scope().set(parameter.name, arguments.positional[i]);
      } else if (named == arguments.named.end()) {
        run.scope().set(
            parameter.name,
            parameter.otherwise != nullptr
                ? run.evaluate(*parameter.otherwise)
                : Value::undefined(fmt::format("parameter '{}' was not provided", parameter.name)));
      }
    }
  }

  const MacroBody& body_;
  Scope scope_;
};

}  // namespace

Flow DefineMacro::run(Run& run) const {
  run.scope().set(macro.name, run.make<Macro>(run, macro));
  return Flow::on;
}

Flow CallBlock::run(Run& run) const {
  run.write(text_of(run, call->call(run, run.make<Macro>(run, macro))));
  return Flow::on;
}

}  // namespace mpitron::tokenizers::jinja
