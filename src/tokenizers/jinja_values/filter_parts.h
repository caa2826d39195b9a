#pragma once

#include "tokenizers/jinja_values/operators.h"

namespace mpitron::tokenizers::jinja {

/// Changes a value's text; such filters take no parameters.
template <std::string (*change)(std::string_view)>
Value change_filter(Run& run, const Value& value, const Arguments& arguments) {
  arguments.bind("a filter of texts", {});
  return run.text(change(text_of(run, value)));
}

/// Follows `value.a.0.b`, as the parameter `attribute` of filters names it. An attribute that is
/// missing is the default, or undefined.
Value path_of(Run& run, Value value, const Value& path, const std::optional<Value>& otherwise);

/// Counts `none` as not given.
std::optional<Value> given(const Arguments::Bound& bound, std::size_t i);

/// Returns pairs of a dictionary; of an undefined value none.
Value items_filter(Run& run, const Value& value, const Arguments& arguments);

}  // namespace mpitron::tokenizers::jinja
