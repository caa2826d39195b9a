#include <fmt/format.h>

#include "tokenizers/jinja_values/filter_parts.h"
#include "tokenizers/jinja_values/operators.h"

// Filters that visit elements with a test or another filter: select, reject and map.

namespace mpitron::tokenizers::jinja {
namespace {

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

}  // namespace

std::span<const FilterRow> choosing_filters() {
  static constexpr FilterRow kRows[] = {
      {"select", select_filter<true>},
      {"reject", select_filter<false>},
      {"selectattr", select_attribute_filter<true>},
      {"rejectattr", select_attribute_filter<false>},
      {"map", map_filter},
  };
  return kRows;
}

}  // namespace mpitron::tokenizers::jinja
