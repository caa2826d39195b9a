#include <algorithm>

#include "tokenizers/jinja_values/filter_parts.h"
#include "tokenizers/jinja_values/operators.h"
#include "tokenizers/text/unicode_text.h"

// Filters that order elements or compare them: by an attribute, without regard to case unless
// asked.

namespace mpitron::tokenizers::jinja {
namespace {

/// Returns the key by which filters order and compare: an attribute, texts in lower case.
Value key_of(Run& run, const Value& value, const std::optional<Value>& attribute,
             bool case_sensitive) {
  Value key = attribute ? path_of(run, value, *attribute, std::nullopt) : value;
  if (key.text() != nullptr && !case_sensitive) {
    return run.text(lower_case_with_final_sigma(*key.text()));
  }
  return key;
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

}  // namespace

std::span<const FilterRow> ordering_filters() {
  static constexpr FilterRow kRows[] = {
      {"sort", sort_filter},         {"dictsort", dict_sort_filter}, {"min", extreme_filter<false>},
      {"max", extreme_filter<true>}, {"unique", unique_filter},      {"groupby", group_by_filter},
  };
  return kRows;
}

}  // namespace mpitron::tokenizers::jinja
