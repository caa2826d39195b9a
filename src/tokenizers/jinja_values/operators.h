#pragma once
#include <span>

#include "tokenizers/jinja_values/run.h"

namespace mpitron::tokenizers::jinja {

/// Python's operators on values. All of them throw Fault with Python's or Jinja's text.

enum class Operation { add, subtract, multiply, divide, floor_divide, modulo, power };
Value compute(Run& run, Operation operation, const Value& left, const Value& right);
Value negated(const Value& value);

bool equal(Run& run, const Value& left, const Value& right);
/// Returns whether left < right. `sign`: as it stands in the message for values that have no order.
bool less(Run& run, const Value& left, const Value& right, std::string_view sign = "<");
/// Implements `item in container`: a part of a text, a key, or an element.
bool contains(Run& run, const Value& container, const Value& item);

/// Return what Python's str() and repr() write.
std::string text_of(Run& run, const Value& value);
std::string repr_of(Run& run, const Value& value);

/// `value.name`, which tries attributes first, and `value[key]`, which tries keys first. Undefined
/// where there is neither.
Value attribute_of(Run& run, const Value& value, const std::string& name);
Value element_of(Run& run, const Value& value, const Value& key);
/// Implements `value[from:to:step]`; bounds that are none or undefined stand for the ends.
Value slice_of(Run& run, const Value& value, const Value& from, const Value& to, const Value& step);

/// Returns what a loop over the value visits: elements, keys or characters.
List elements_of(Run& run, const Value& value);

/// Throws the reason why a value is undefined; returns for all others.
void require_defined(const Value& value);

/// Parameters of json.dumps, by their effect.
struct JsonStyle {
  std::optional<std::string> indent = std::nullopt;  // one level
  std::string between = ", ", behind_key = ": ";
  bool sorted = false;
  bool ascii = false;
};
/// Writes a value as json.dumps does.
std::string json_of(Run& run, const Value& value, const JsonStyle& style);

/// Implements `format % values`.
std::string percent_format(Run& run, const std::string& format, const Value& values);

/// A method of texts, lists and dictionaries; null where the type has none of this name.
using Method = Value (*)(Run&, const Value& self, const Arguments&);
Method find_method(const Value& value, std::string_view name);

/// A filter and a test by name; null where there is none.
using Filter = Value (*)(Run&, const Value& value, const Arguments&);
Filter find_filter(std::string_view name);
using Test = bool (*)(Run&, const Value& value, const Arguments&);
Test find_test(std::string_view name);

/// Sets the functions that every template has: range, namespace, raise_exception, ...
void define_functions(Run& run);

/// A filter under its name in a template.
struct FilterRow {
  std::string_view name;
  Filter filter;
};

/// Filters of texts, of what encodes them, of numbers, and of lists and dictionaries: those that
/// take or count elements, that visit them with a test or a filter, and that order or compare them.
std::span<const FilterRow> text_filters();
std::span<const FilterRow> encoding_filters();
std::span<const FilterRow> number_filters();
std::span<const FilterRow> list_filters();
std::span<const FilterRow> choosing_filters();
std::span<const FilterRow> ordering_filters();

/// Names a value as Jinja does in front of what it lacks.
std::string described(const Value& value);

}  // namespace mpitron::tokenizers::jinja
