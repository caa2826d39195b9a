#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "tokenizers/jinja_values/operators.h"
#include "tokenizers/jinja_values/python_text.h"
#include "tokenizers/text/unicode_text.h"

// Jinja's filters of lists and dictionaries, with the parameters and defaults of jinja2/filters.py.
// Filters that are generators there are lists here; limits of the run bound their size.

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

/// Follows `value.a.0.b`, as the parameter `attribute` of filters names it. An attribute that is
/// missing is the default, or undefined.
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

/// Returns the key by which filters order and compare: an attribute, texts in lower case.
Value key_of(Run& run, const Value& value, const std::optional<Value>& attribute,
             bool case_sensitive) {
  Value key = attribute ? path_of(run, value, *attribute, std::nullopt) : value;
  if (key.text() != nullptr && !case_sensitive) {
    return run.text(lower_case_with_final_sigma(*key.text()));
  }
  return key;
}

/// Counts `none` as not given.
std::optional<Value> given(const Arguments::Bound& bound, std::size_t i) {
  return bound.has(i) && !bound[i].is_none() ? std::optional(bound[i]) : std::nullopt;
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

/// Returns pairs of a dictionary; of an undefined value none.
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

/// Returns what map, select and reject visit: no elements of a value that is false, none among it.
List items_or_none(Run& run, const Value& value) {
  return value.truthy() ? elements_of(run, value) : List();
}

/// Calls the test that the first argument names, with the other arguments; without one asks for the
/// truth.
bool passes(Run& run, const Value& value, const Arguments& test) {
  if (test.positional.empty()) {
    return value.truthy();
  }
  const std::string* name = test.positional.front().text();
  const Test found = name == nullptr ? nullptr : find_test(*name);
  if (found == nullptr) {
    throw Fault(fmt::format("No test named {}.", repr_of(run, test.positional.front())));
  }
  return found(run, value, {{test.positional.begin() + 1, test.positional.end()}, test.named});
}

/// Implements select and reject: keeps elements that pass a test, or do not.
template <bool wanted>
Value select_filter(Run& run, const Value& value, const Arguments& arguments) {
  List kept;
  for (const Value& each : items_or_none(run, value)) {
    if (passes(run, each, arguments) == wanted) {
      kept.push_back(each);
    }
  }
  return run.list(std::move(kept));
}

/// Implements selectattr and rejectattr: keeps elements whose attribute passes a test, or does not.
template <bool wanted>
Value select_attribute_filter(Run& run, const Value& value, const Arguments& arguments) {
  if (arguments.positional.empty()) {
    throw Fault("Missing parameter for attribute name");
  }
  const Arguments test{{arguments.positional.begin() + 1, arguments.positional.end()},
                       arguments.named};
  List kept;
  for (const Value& each : items_or_none(run, value)) {
    if (passes(run, path_of(run, each, arguments.positional.front(), std::nullopt), test) ==
        wanted) {
      kept.push_back(each);
    }
  }
  return run.list(std::move(kept));
}

/// Applies a filter by name, or without a positional argument looks an attribute up.
Value map_filter(Run& run, const Value& value, const Arguments& arguments) {
  List results;
  const List items = items_or_none(run, value);
  if (arguments.positional.empty()) {
    const auto bound = arguments.bind("map", {"attribute", "default"}, 1);
    for (const Value& each : items) {
      results.push_back(
          path_of(run, each, bound[0], bound.has(1) ? std::optional(bound[1]) : std::nullopt));
    }
    return run.list(std::move(results));
  }
  const std::string* name = arguments.positional.front().text();
  const Filter filter = name == nullptr ? nullptr : find_filter(*name);
  if (filter == nullptr) {
    throw Fault(fmt::format("No filter named {}.", repr_of(run, arguments.positional.front())));
  }
  const Arguments rest{{arguments.positional.begin() + 1, arguments.positional.end()},
                       arguments.named};
  for (const Value& each : items) {
    results.push_back(run.deeper([&] { return filter(run, each, rest); }));
  }
  return run.list(std::move(results));
}

/// An element with the key by which it is ordered, which is computed once.
struct Keyed {
  Value key;
  Value value;
};

std::vector<Keyed> keyed(Run& run, const Value& value, const std::optional<Value>& attribute,
                         bool case_sensitive) {
  std::vector<Keyed> all;
  for (const Value& each : elements_of(run, value)) {
    all.push_back({key_of(run, each, attribute, case_sensitive), each});
  }
  return all;
}

/// Keeps the order of equal elements, in reverse, too, as Python's sort does.
void sort(Run& run, std::vector<Keyed>& all, bool reverse) {
  std::ranges::stable_sort(all, [&](const Keyed& a, const Keyed& b) {
    return reverse ? less(run, b.key, a.key) : less(run, a.key, b.key);
  });
}

/// Orders texts without regard to case unless asked, as Jinja does and Python does not.
Value sort_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("sort", {"reverse", "case_sensitive", "attribute"});
  std::vector<Keyed> all = keyed(run, value, given(bound, 2), bound.truthy(1, false));
  sort(run, all, bound.truthy(0, false));
  List items;
  for (Keyed& each : all) {
    items.push_back(std::move(each.value));
  }
  return run.list(std::move(items));
}

/// Orders a dictionary's pairs by key, or by value.
Value dict_sort_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("dictsort", {"case_sensitive", "by", "reverse"});
  const Value by(bound.text(1, "key") == "value" ? 1 : 0);
  std::vector<Keyed> all = keyed(run, items_filter(run, value, {}), by, bound.truthy(0, false));
  sort(run, all, bound.truthy(2, false));
  List items;
  for (Keyed& each : all) {
    items.push_back(std::move(each.value));
  }
  return run.list(std::move(items));
}

/// Returns the least or largest element, of equal ones the first.
template <bool largest>
Value extreme_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind(largest ? "max" : "min", {"case_sensitive", "attribute"});
  const std::vector<Keyed> all = keyed(run, value, given(bound, 1), bound.truthy(0, false));
  if (all.empty()) {
    return Value::undefined("No aggregated item, sequence was empty.");
  }
  const Keyed* best = &all.front();
  for (const Keyed& each : all) {
    if (largest ? less(run, best->key, each.key) : less(run, each.key, best->key)) {
      best = &each;
    }
  }
  return best->value;
}

/// Keeps the first element of each key, in the order of the list.
Value unique_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("unique", {"case_sensitive", "attribute"});
  Dict seen;
  List items;
  for (const Keyed& each : keyed(run, value, given(bound, 1), bound.truthy(0, false))) {
    if (seen.find(each.key) == nullptr) {
      seen.set(each.key, true);
      items.push_back(each.value);
    }
  }
  return run.list(std::move(items));
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

/// Returns pairs of a key and the elements that have it. Jinja's pairs have the names `grouper` and
/// `list`, too; these are plain tuples.
Value group_by_filter(Run& run, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("groupby", {"attribute", "default", "case_sensitive"}, 1);
  const auto otherwise = bound.has(1) ? std::optional(bound[1]) : std::nullopt;
  std::vector<Keyed> all;
  for (const Value& each : elements_of(run, value)) {
    const Value key = path_of(run, each, bound[0], otherwise);
    all.push_back({key_of(run, key, std::nullopt, bound.truthy(2, false)), each});
  }
  sort(run, all, false);
  List groups;
  for (std::size_t i = 0; i < all.size();) {
    List members;
    const std::size_t first = i;
    for (; i < all.size() && equal(run, all[i].key, all[first].key); ++i) {
      members.push_back(all[i].value);
    }
    const Value key = path_of(run, all[first].value, bound[0], otherwise);
    groups.push_back(run.list({key, run.list(std::move(members))}, true));
  }
  return run.list(std::move(groups));
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
      {"default", default_filter},
      {"d", default_filter},
      {"length", length_filter},
      {"count", length_filter},
      {"first", end_filter<false>},
      {"last", end_filter<true>},
      {"join", join_filter},
      {"list", list_filter},
      {"items", items_filter},
      {"reverse", reverse_filter},
      {"attr", attr_filter},
      {"select", select_filter<true>},
      {"reject", select_filter<false>},
      {"selectattr", select_attribute_filter<true>},
      {"rejectattr", select_attribute_filter<false>},
      {"map", map_filter},
      {"sort", sort_filter},
      {"dictsort", dict_sort_filter},
      {"min", extreme_filter<false>},
      {"max", extreme_filter<true>},
      {"unique", unique_filter},
      {"sum", sum_filter},
      {"groupby", group_by_filter},
      {"batch", batch_filter},
  };
  return kRows;
}

/// Searches both tables: names do not repeat.
Filter find_filter(std::string_view name) {
  for (const auto rows : {text_filters(), list_filters()}) {
    const auto found = std::ranges::find(rows, name, &FilterRow::name);
    if (found != rows.end()) {
      return found->filter;
    }
  }
  return nullptr;
}

}  // namespace mpitron::tokenizers::jinja
