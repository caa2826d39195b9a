#include "tokenizers/jinja_values/run.h"

#include <algorithm>

#include <fmt/format.h>

#include "tokenizers/jinja_values/syntax.h"

// State of one rendering, and its limits. Templates come from strangers: steps, depth and output
// are counted everywhere, so that none runs for ever or fills the memory.

namespace mpitron::tokenizers::jinja {

/// Searches from the innermost scope outwards. Scopes have few variables, so lists beat hash
/// tables.
const Value* Scope::find(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->around_) {
    const auto found =
        std::ranges::find(scope->variables_, name, &std::pair<std::string, Value>::first);
    if (found != scope->variables_.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

void Scope::set(const std::string& name, Value value) {
  const auto found = std::ranges::find(variables_, name, &std::pair<std::string, Value>::first);
  if (found != variables_.end()) {
    found->second = std::move(value);
  } else {
    variables_.emplace_back(name, std::move(value));
  }
}

std::vector<std::pair<std::string, Value>> Scope::seen(const Scope* end) const {
  std::vector<std::pair<std::string, Value>> all;
  for (const Scope* scope = this; scope != end && scope != nullptr; scope = scope->around_) {
    all.insert(all.end(), scope->variables_.begin(), scope->variables_.end());
  }
  return all;
}

Run::Run(const Value& variables, const Limits& limits) : limits_(limits) {
  for (const auto& [name, value] : variables.dict()->items()) {
    global_.set(*name.text(), value);
  }
}

/// Empties each list while all are alive: lists may nest without limit and hold themselves, and
/// destroying them in depth would exhaust the stack.
Run::~Run() {
  for (const auto& list : lists_) {
    const List last = std::exchange(*list, {});
  }
  for (const auto& dict : dicts_) {
    const Dict last = std::exchange(*dict, {});
  }
}

void Run::spend(std::size_t work) {
  used_ += work;
  if (used_ > static_cast<std::size_t>(limits_.steps)) {
    throw Fault(fmt::format("it takes more than {} steps", limits_.steps));
  }
}

void Run::go_deeper() {
  if (++depth_ > limits_.depth) {
    throw Fault(fmt::format("it nests deeper than {}", limits_.depth));
  }
}

/// The one place where expressions are entered, so that each is counted.
Value Run::evaluate(const Expression& expression) {
  spend();
  line = expression.line;
  return deeper([&] { return expression.evaluate(*this); });
}

Value Run::text(std::string text) {
  spend(text.size() / 32);
  return text;
}

Value Run::list(List items, bool is_tuple) {
  spend(items.size() + 1);
  const auto& made = lists_.emplace_back(std::make_shared<List>(std::move(items)));
  own_lists_.insert(made.get());
  return {made, is_tuple};
}

Value Run::dict(Dict dict) {
  spend(dict.size() + 1);
  return {dicts_.emplace_back(std::make_shared<Dict>(std::move(dict)))};
}

void Run::write(std::string_view text) {
  written_ += text.size();
  if (written_ > limits_.output) {
    throw Fault(fmt::format("it writes more than {} bytes", limits_.output));
  }
  *output_ += text;
}

}  // namespace mpitron::tokenizers::jinja
