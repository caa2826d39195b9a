#include "tokenizers/jinja_values/filter_parts.h"

#include <charconv>

#include "tokenizers/jinja_values/operators.h"
#include "tokenizers/jinja_values/python_text.h"

// What filters of elements share: attributes by their path, and parameters that count as given.

namespace mpitron::tokenizers::jinja {

Value path_of(Run& run, Value value, const Value& path, const std::optional<Value>& otherwise) {
  if (path.is_integer()) {
    value = element_of(run, value, path);
  } else if (path.text() == nullptr) {
    throw Fault("an attribute is named by a text or an integer");
  } else {
    for (const std::string_view part : split(*path.text(), ".", -1)) {
      std::int64_t place = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), place);
      const bool is_place = error == std::errc() && end == part.data() + part.size();
      value = element_of(run, value, is_place ? Value(place) : Value(part));
      if (value.is_undefined() && otherwise) {
        return *otherwise;
      }
    }
  }
  return value.is_undefined() && otherwise ? *otherwise : value;
}

std::optional<Value> given(const Arguments::Bound& bound, std::size_t i) {
  return bound.has(i) && !bound[i].is_none() ? std::optional(bound[i]) : std::nullopt;
}

Value items_filter(Run& run, const Value& value, const Arguments& arguments) {
  arguments.bind("items", {});
  if (value.is_undefined()) {
    return run.list({});
  }
  if (value.dict() == nullptr) {
    throw Fault("Can only get item pairs from a mapping.");
  }
  return find_method(value, "items")(run, value, {});
}

}  // namespace mpitron::tokenizers::jinja
