#pragma once
#include "tokenizers/jinja_values/object.h"

namespace mpitron::tokenizers::jinja {

/// The variable `loop`: the items of a for statement and the current position.
class Loop : public Object {
 public:
  explicit Loop(List items) : items_(std::move(items)) {}

  const List& items() const { return items_; }
  void go_to(std::size_t index) { index_ = index; }

  std::string_view type_name() const override { return "LoopContext"; }
  std::optional<Value> attribute(const std::string& name) override;
  /// Returns the element of `values` whose turn it is: loop.cycle.
  Value cycle(const List& values) const { return values[index_ % values.size()]; }
  /// Returns whether the arguments differ from those of the last call: loop.changed.
  bool changed(Run& run, const List& values);

 private:
  List items_;
  std::size_t index_ = 0;
  std::optional<List> last_;
  std::vector<std::unique_ptr<Object>> methods_;
};

}  // namespace mpitron::tokenizers::jinja
