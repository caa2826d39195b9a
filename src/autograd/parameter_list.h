#pragma once
#include <deque>
#include <string_view>

#include "autograd/parameter.h"

namespace mpitron::autograd {

/// The parameters of a model in the order of their creation, and its buffers, at addresses that
/// stay.
class ParameterList {
 public:
  Parameter& add(Parameter parameter) { return parameters_.emplace_back(std::move(parameter)); }
  /// Lists the parameters of which `chosen(parameter)` is true, in order.
  template <class Chosen>
  std::vector<Parameter*> where(Chosen&& chosen);
  std::vector<Parameter*> all() {
    return where([](const Parameter&) { return true; });
  }
  /// Null where no parameter has this name.
  Parameter* find(std::string_view name);

  auto begin() { return parameters_.begin(); }
  auto end() { return parameters_.end(); }
  auto begin() const { return parameters_.begin(); }
  auto end() const { return parameters_.end(); }
  std::size_t size() const { return parameters_.size(); }
  Buffer& add_buffer(Buffer buffer) { return buffers_.emplace_back(std::move(buffer)); }
  std::deque<Buffer>& buffers() { return buffers_; }
  /// Elements of all parameters.
  Index numel() const;

 private:
  std::deque<Parameter> parameters_;
  std::deque<Buffer> buffers_;
};

template <class Chosen>
std::vector<Parameter*> ParameterList::where(Chosen&& chosen) {
  std::vector<Parameter*> some;
  for (Parameter& parameter : parameters_) {
    if (chosen(parameter)) {
      some.push_back(&parameter);
    }
  }
  return some;
}

}  // namespace mpitron::autograd
