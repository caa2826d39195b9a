#include "tokenizers/jinja_values/loop.h"

#include "tokenizers/jinja_values/operators.h"

// The variable `loop` of a for statement: its numbers, neighbours, and the methods cycle and
// changed.

namespace mpitron::tokenizers::jinja {
namespace {

using Place = std::size_t;

struct LoopField {
  std::string_view name;
  Value (*value)(Place index, Place size);
};

Value number(Place value) {
  return static_cast<std::int64_t>(value);
}

constexpr LoopField kFields[] = {
    {"index", [](Place i, Place) { return number(i + 1); }},
    {"index0", [](Place i, Place) { return number(i); }},
    {"revindex", [](Place i, Place n) { return number(n - i); }},
    {"revindex0", [](Place i, Place n) { return number(n - i - 1); }},
    {"first", [](Place i, Place) { return Value(i == 0); }},
    {"last", [](Place i, Place n) { return Value(i + 1 == n); }},
    {"length", [](Place, Place n) { return number(n); }},
};

/// Makes loop.cycle and loop.changed callable; the loop outlives it.
class LoopMethod : public Object {
 public:
  LoopMethod(Loop& loop, bool cycles) : loop_(loop), cycles_(cycles) {}
  std::string_view type_name() const override { return "method"; }
  bool callable() const override { return true; }
  Value call(Run& run, const Arguments& arguments) override {
    if (!cycles_) {
      return loop_.changed(run, arguments.positional);
    }
    if (arguments.positional.empty()) {
      throw Fault("no items for cycling given");
    }
    return loop_.cycle(arguments.positional);
  }

 private:
  Loop& loop_;
  bool cycles_;
};

}  // namespace

/// Methods are made when a template asks for the first of them.
std::optional<Value> Loop::attribute(const std::string& name) {
  for (const LoopField& field : kFields) {
    if (field.name == name) {
      return field.value(index_, items_.size());
    }
  }
  if (name == "previtem" || name == "nextitem") {
    const bool next = name == "nextitem";
    if (next ? index_ + 1 >= items_.size() : index_ == 0) {
      return Value::undefined(next ? "there is no next item" : "there is no previous item");
    }
    return items_[next ? index_ + 1 : index_ - 1];
  }
  if (name == "cycle" || name == "changed") {
    if (methods_.empty()) {
      methods_.push_back(std::make_unique<LoopMethod>(*this, false));
      methods_.push_back(std::make_unique<LoopMethod>(*this, true));
    }
    return Value(*methods_[name == "cycle" ? 1 : 0]);
  }
  return std::nullopt;
}

bool Loop::changed(Run& run, const List& values) {
  bool same = last_ && last_->size() == values.size();
  for (std::size_t i = 0; same && i < values.size(); ++i) {
    same = equal(run, (*last_)[i], values[i]);
  }
  last_ = values;
  return !same;
}

}  // namespace mpitron::tokenizers::jinja
