#include <algorithm>

#include <fmt/format.h>

#include "tokenizers/jinja_values/filter_parts.h"
#include "tokenizers/jinja_values/operators.h"
#include "tokenizers/jinja_values/python_text.h"

// Jinja's filters that take or count elements of lists and dictionaries, with the parameters and
// defaults of jinja2/filters.py. Filters that are generators there are lists here; limits of the
// run bound their size.

namespace mpitron::tokenizers::jinja {
namespace {

/// Replaces an undefined value, and with `boolean` any that is false.
Value default_filter(Run& /*run*/, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("default", {"default_value", "boolean"});
  const bool missing = value.is_undefined() || (bound.truthy(1, false) && !value.truthy());
  return missing ? bound.get(0, "") : value;
}

/// Counts characters of a text, elements or keys; an undefined value has 0, as in Jinja.
Value length_filter(Run& run, const Value& value, const Arguments& arguments) {
  arguments.bind("length", {});
  if (const std::string* text = value.text()) {
    run.spend(text->size() / 32);
    return characters(*text);
  }
  if (value.list() == nullptr && value.dict() == nullptr && !value.is_undefined()) {
    throw Fault(fmt::format("object of type '{}' has no len()", value.type_name()));
  }
  return static_cast<std::int64_t>(value.list() != nullptr   ? value.list()->size()
                                   : value.dict() != nullptr ? value.dict()->size()
                                                             : 0);
}

/// Returns the first or last element; an empty list gives an undefined value, no error.
template <bool last>
Value end_filter(Run& run, const Value& value, const Arguments& arguments) {
  arguments.bind(last ? "last" : "first", {});
  const List items = elements_of(run, value);
  if (items.empty()) {
    return Value::undefined(
        fmt::format("No {} item, sequence was empty.", last ? "last" : "first"));
  }
  return last ? items.back() : items.front();
}

/// Writes elements as `{{ }}` would; the result's length is charged as it grows, since a short
/// template can join without end.
Value join_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("join", {"d", "attribute"});
  const std::string between = bound.has(0) ? text_of(run, bound[0]) : "";
  const auto attribute = given(bound, 1);
  std::string text;
  bool first = true;
  for (const Value& each : elements_of(run, value)) {
    text += std::exchange(first, false) ? "" : between;
    const Value part = attribute ? path_of(run, each, *attribute, std::nullopt) : each;
    const std::string written = text_of(run, part);
    run.spend((between.size() + written.size()) / 32);
    text += written;
  }
  return text;
}

Value list_filter(Run& run, const Value& value, const Arguments& arguments) {
  arguments.bind("list", {});
  return run.list(elements_of(run, value));
}

/// Reverses a text by characters, anything else as a list.
Value reverse_filter(Run& run, const Value& value, const Arguments& arguments) {
  arguments.bind("reverse", {});
  List items = elements_of(run, value);
  std::ranges::reverse(items);
  if (value.text() == nullptr) {
    return run.list(std::move(items));
  }
  std::string text;
  for (const Value& each : items) {
    text += *each.text();
  }
  return text;
}

/// Finds attributes and methods but no keys of a dictionary, in which it differs from `.`.
Value attr_filter(Run& run, const Value& value, const Arguments& arguments) {
  const std::string name = arguments.bind("attr", {"name"}, 1).text(0, "");
  require_defined(value);
  const bool has = value.object() != nullptr || find_method(value, name) != nullptr;
  return has ? attribute_of(run, value, name)
             : Value::undefined(
                   fmt::format("'{} object' has no attribute '{}'", value.type_name(), name));
}

/// Adds by `+`, starting from `start`: with a text or a list there it joins.
Value sum_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("sum", {"attribute", "start"});
  const auto attribute = given(bound, 0);
  Value total = bound.get(1, 0);
  for (const Value& each : elements_of(run, value)) {
    total = compute(run, Operation::add, total,
                    attribute ? path_of(run, each, *attribute, std::nullopt) : each);
  }
  return total;
}

/// Cuts into rows of `linecount`; the last one is filled up where `fill_with` is given.
Value batch_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("batch", {"linecount", "fill_with"}, 1);
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bound.integer(0, 1), 1));
  List rows, row;
  for (const Value& each : elements_of(run, value)) {
    if (row.size() == size) {
      rows.push_back(run.list(std::exchange(row, {})));
    }
    row.push_back(each);
  }
  if (!row.empty()) {
    while (bound.has(1) && !bound[1].is_none() && row.size() < size) {
      row.push_back(bound[1]);
      run.spend();
    }
    rows.push_back(run.list(std::move(row)));
  }
  return run.list(std::move(rows));
}

}  // namespace

std::span<const FilterRow> list_filters() {
  static constexpr FilterRow kRows[] = {
      {"default", default_filter}, {"d", default_filter},        {"length", length_filter},
      {"count", length_filter},    {"first", end_filter<false>}, {"last", end_filter<true>},
      {"join", join_filter},       {"list", list_filter},        {"items", items_filter},
      {"reverse", reverse_filter}, {"attr", attr_filter},        {"sum", sum_filter},
      {"batch", batch_filter},
  };
  return kRows;
}

/// Searches all tables: names do not repeat.
Filter find_filter(std::string_view name) {
  for (const auto rows : {text_filters(), encoding_filters(), number_filters(), list_filters(),
                          choosing_filters(), ordering_filters()}) {
    const auto found = std::ranges::find(rows, name, &FilterRow::name);
    if (found != rows.end()) {
      return found->filter;
    }
  }
  return nullptr;
}

}  // namespace mpitron::tokenizers::jinja
