#include "tokenizers/jinja_values/object.h"

#include <algorithm>

#include <fmt/format.h>

// Calls of functions written in C++: arguments are bound to parameter names first, with Python's
// messages for what does not fit.

namespace mpitron::tokenizers::jinja {

Value Object::call(Run& /*run*/, const Arguments& /*arguments*/) {
  throw Fault(fmt::format("'{}' object is not callable", type_name()));
}

Arguments::Bound Arguments::bind(std::string_view callee,
                                 std::initializer_list<std::string_view> parameters,
                                 std::size_t required) const {
  std::vector<std::optional<Value>> values(parameters.size());
  if (positional.size() > parameters.size()) {
    throw Fault(fmt::format("{}() takes at most {} arguments ({} given)", callee, parameters.size(),
                            positional.size()));
  }
  std::copy(positional.begin(), positional.end(), values.begin());
  for (const auto& [name, value] : named) {
    const auto* const found = std::ranges::find(parameters, name);
    if (found == parameters.end()) {
      throw Fault(fmt::format("{}() got an unexpected keyword argument '{}'", callee, name));
    }
    auto& place = values[static_cast<std::size_t>(found - parameters.begin())];
    if (place) {
      throw Fault(fmt::format("{}() got multiple values for argument '{}'", callee, name));
    }
    place = value;
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (!values[i]) {
      throw Fault(
          fmt::format("{}() missing a required argument: '{}'", callee, *(parameters.begin() + i)));
    }
  }
  return Bound(std::move(values));
}

std::int64_t Arguments::Bound::integer(std::size_t i, std::int64_t otherwise) const {
  if (!has(i)) {
    return otherwise;
  }
  if (!(*this)[i].is_integer()) {
    throw Fault(
        fmt::format("'{}' object cannot be interpreted as an integer", (*this)[i].type_name()));
  }
  return (*this)[i].integer();
}

std::string Arguments::Bound::text(std::size_t i, std::string_view otherwise) const {
  if (!has(i)) {
    return std::string(otherwise);
  }
  if ((*this)[i].text() == nullptr) {
    throw Fault(fmt::format("expected str, got {}", (*this)[i].type_name()));
  }
  return *(*this)[i].text();
}

}  // namespace mpitron::tokenizers::jinja
