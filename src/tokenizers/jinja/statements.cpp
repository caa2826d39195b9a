#include "tokenizers/jinja/statements.h"

#include <fmt/format.h>

#include "tokenizers/jinja_values/loop.h"

// Execution of parsed statements: text is written to the run's output, variables live in scopes
// that blocks open, and every step is counted against the run's limits.

namespace mpitron::tokenizers::jinja {
namespace {

/// Runs a block in a scope of its own and returns what it writes.
std::string captured_block(Run& run, const Block& body) {
  Scope scope(&run.scope());
  return run.captured([&] { run.within(scope, [&] { return execute(run, body); }); });
}

}  // namespace

/// Executes statements until one leaves the loop or the round.
Flow execute(Run& run, const Block& block) {
  for (const auto& statement : block) {
    run.spend();
    run.line = statement->line;
    const Flow flow = run.deeper([&] { return statement->run(run); });
    if (flow != Flow::on) {
      return flow;
    }
  }
  return Flow::on;
}

/// Assigns to a name, unpacks into several, or sets an attribute of a namespace, the only object
/// that takes any.
void Target::assign(Run& run, const Value& value) const {
  if (!targets.empty()) {
    const List items = elements_of(run, value);
    if (items.size() != targets.size()) {
      throw Fault(items.size() < targets.size()
                      ? fmt::format("not enough values to unpack (expected {}, got {})",
                                    targets.size(), items.size())
                      : fmt::format("too many values to unpack (expected {})", targets.size()));
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      targets[i].assign(run, items[i]);
    }
  } else if (attribute.empty()) {
    run.scope().set(name, value);
  } else {
    const Value* found = run.scope().find(name);
    if (found == nullptr) {
      throw Fault(fmt::format("'{}' is undefined", name));
    }
    if (found->object() == nullptr || !found->object()->set_attribute(attribute, value)) {
      throw Fault("cannot assign attribute on non-namespace object");
    }
    run.spend();
  }
}

Flow Data::run(Run& run) const {
  run.spend(text.size() / 32);
  run.write(text);
  return Flow::on;
}

Flow Output::run(Run& run) const {
  const std::string text = text_of(run, run.evaluate(*value));
  run.spend(text.size() / 32);
  run.write(text);
  return Flow::on;
}

Flow If::run(Run& run) const {
  for (const auto& [condition, block] : branches) {
    if (run.evaluate(*condition).truthy()) {
      return execute(run, block);
    }
  }
  return execute(run, otherwise);
}

/// Filters the items before the loop starts, so that loop.length and loop.last count what is left.
List For::chosen(Run& run) const {
  List all = elements_of(run, run.evaluate(*items));
  if (condition == nullptr) {
    return all;
  }
  List kept;
  for (Value& each : all) {
    Scope scope(&run.scope());
    run.within(scope, [&] {
      target.assign(run, each);
      if (run.evaluate(*condition).truthy()) {
        kept.push_back(std::move(each));
      }
    });
  }
  return kept;
}

/// Every round has a scope of its own: variables that are set inside a loop do not outlive a round.
Flow For::run(Run& run) const {
  Loop& loop = run.make<Loop>(chosen(run));
  if (loop.items().empty()) {
    Scope scope(&run.scope());
    return run.within(scope, [&] { return execute(run, otherwise); });
  }
  for (std::size_t i = 0; i < loop.items().size(); ++i) {
    loop.go_to(i);
    Scope scope(&run.scope());
    const Flow flow = run.within(scope, [&] {
      scope.set("loop", loop);
      target.assign(run, loop.items()[i]);
      return execute(run, body);
    });
    if (flow == Flow::ends_loop) {
      break;
    }
  }
  return Flow::on;
}

Flow Jump::run(Run& /*run*/) const {
  return flow;
}

/// Sets in the scope of now: a `set` inside of a loop ends with its round.
Flow Set::run(Run& run) const {
  if (value != nullptr) {
    target.assign(run, run.evaluate(*value));
    return Flow::on;
  }
  const Value text = run.text(captured_block(run, body));
  target.assign(run, filter != nullptr ? filter->apply(run, text) : text);
  return Flow::on;
}

/// All values are evaluated outside before any name is set.
Flow With::run(Run& run) const {
  Scope scope(&run.scope());
  List all;
  for (const auto& [target, value] : values) {
    all.push_back(run.evaluate(*value));
  }
  return run.within(scope, [&] {
    for (std::size_t i = 0; i < all.size(); ++i) {
      values[i].first.assign(run, all[i]);
    }
    return execute(run, body);
  });
}

Flow FilterBlock::run(Run& run) const {
  const Value text = run.text(captured_block(run, body));
  run.write(text_of(run, filter->apply(run, text)));
  return Flow::on;
}

/// Bytes inside a captured block are no places in the text, so only a block at the top is noted.
Flow Generation::run(Run& run) const {
  Scope scope(&run.scope());
  const std::size_t begin = run.output().size();
  const Flow flow = run.within(scope, [&] { return execute(run, body); });
  if (!run.captures()) {
    run.note_generated(begin, run.output().size());
  }
  return flow;
}

}  // namespace mpitron::tokenizers::jinja
