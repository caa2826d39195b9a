#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tokenizers/jinja_values/operators.h"
#include "tokenizers/text/unicode_text.h"

// Jinja's tests, what stands behind `is`: a row and a function for each, with the meaning of
// jinja2/tests.py.

namespace mpitron::tokenizers::jinja {
namespace {

template <bool (*holds)(const Value&)>
bool kind_test(Run& /*run*/, const Value& value, const Arguments& arguments) {
  arguments.bind("a test", {});
  return holds(value);
}

bool is_defined(const Value& value) {
  return !value.is_undefined();
}
bool is_undefined(const Value& value) {
  return value.is_undefined();
}
bool is_none(const Value& value) {
  return value.is_none();
}
bool is_boolean(const Value& value) {
  return value.is_bool();
}
bool is_true(const Value& value) {
  return value.is_bool() && value.truthy();
}
bool is_false(const Value& value) {
  return value.is_bool() && !value.truthy();
}
bool is_whole(const Value& value) {
  return value.is_integer() && !value.is_bool();
}
bool is_float(const Value& value) {
  return value.is_real();
}
bool is_any_number(const Value& value) {
  return value.is_number();
}
bool is_text(const Value& value) {
  return value.text() != nullptr;
}
bool is_mapping(const Value& value) {
  return value.dict() != nullptr;
}
bool is_iterable(const Value& value) {
  return value.text() != nullptr || value.list() != nullptr || value.dict() != nullptr ||
         value.is_undefined();
}
bool is_callable(const Value& value) {
  return value.object() != nullptr && value.object()->callable();
}

std::int64_t integer_of(const Value& value) {
  require_defined(value);
  if (!value.is_integer()) {
    throw Fault(fmt::format("an integer is wanted, not {}", value.type_name()));
  }
  return value.integer();
}

/// Implements odd and even; the remainder of a negative number is negative here, so its size
/// counts.
template <int rest>
bool parity_test(Run& /*run*/, const Value& value, const Arguments& arguments) {
  arguments.bind("a test", {});
  return std::abs(integer_of(value) % 2) == rest;
}

bool divisible_test(Run& /*run*/, const Value& value, const Arguments& arguments) {
  const std::int64_t by = integer_of(arguments.bind("divisibleby", {"num"}, 1)[0]);
  if (by == 0) {
    throw Fault("integer division or modulo by zero");
  }
  return by == -1 || integer_of(value) % by == 0;
}

/// Compares the value with one argument.
template <bool (*holds)(Run&, const Value&, const Value&)>
bool relation_test(Run& run, const Value& value, const Arguments& arguments) {
  return holds(run, value, arguments.bind("a test", {"other"}, 1)[0]);
}

bool unequal(Run& run, const Value& a, const Value& b) {
  return !equal(run, a, b);
}
bool is_less(Run& run, const Value& a, const Value& b) {
  return less(run, a, b, "<");
}
bool is_greater(Run& run, const Value& a, const Value& b) {
  return less(run, b, a, ">");
}
bool is_at_most(Run& run, const Value& a, const Value& b) {
  return less(run, a, b, "<=") || equal(run, a, b);
}
bool is_at_least(Run& run, const Value& a, const Value& b) {
  return less(run, b, a, ">=") || equal(run, a, b);
}
bool is_in(Run& run, const Value& a, const Value& b) {
  return contains(run, b, a);
}
/// Asks for one and the same list or dictionary; other values are the same if they are equal.
bool is_same(Run& run, const Value& a, const Value& b) {
  return a.type_name() == b.type_name() && a.list() == b.list() && a.dict() == b.dict() &&
         equal(run, a, b);
}

/// Returns whether changing the case would leave the text as it is, and there are letters.
template <std::string (*change)(std::string_view), std::string (*other)(std::string_view)>
bool case_test(Run& run, const Value& value, const Arguments& arguments) {
  arguments.bind("a test", {});
  const std::string text = text_of(run, value);
  run.spend(text.size() / 8);
  return change(text) == text && other(text) != text;
}

/// Implements `x is filter` and `x is test`: whether such a name is known.
template <class Found, Found (*find)(std::string_view)>
bool exists_test(Run& /*run*/, const Value& value, const Arguments& arguments) {
  arguments.bind("a test", {});
  return value.text() != nullptr && find(*value.text()) != nullptr;
}

struct TestRow {
  std::string_view name;
  Test test;
};

constexpr TestRow kTests[] = {
    {"defined", kind_test<is_defined>},
    {"undefined", kind_test<is_undefined>},
    {"none", kind_test<is_none>},
    {"boolean", kind_test<is_boolean>},
    {"true", kind_test<is_true>},
    {"false", kind_test<is_false>},
    {"integer", kind_test<is_whole>},
    {"float", kind_test<is_float>},
    {"number", kind_test<is_any_number>},
    {"string", kind_test<is_text>},
    {"mapping", kind_test<is_mapping>},
    {"iterable", kind_test<is_iterable>},
    {"sequence", kind_test<is_iterable>},
    {"callable", kind_test<is_callable>},
    {"odd", parity_test<1>},
    {"even", parity_test<0>},
    {"divisibleby", divisible_test},
    {"equalto", relation_test<equal>},
    {"eq", relation_test<equal>},
    {"==", relation_test<equal>},
    {"ne", relation_test<unequal>},
    {"!=", relation_test<unequal>},
    {"lt", relation_test<is_less>},
    {"lessthan", relation_test<is_less>},
    {"<", relation_test<is_less>},
    {"gt", relation_test<is_greater>},
    {"greaterthan", relation_test<is_greater>},
    {">", relation_test<is_greater>},
    {"le", relation_test<is_at_most>},
    {"<=", relation_test<is_at_most>},
    {"ge", relation_test<is_at_least>},
    {">=", relation_test<is_at_least>},
    {"in", relation_test<is_in>},
    {"sameas", relation_test<is_same>},
    {"lower", case_test<lower_case, upper_case>},
    {"upper", case_test<upper_case, lower_case>},
    {"filter", exists_test<Filter, find_filter>},
    {"test", exists_test<Test, find_test>},
};

}  // namespace

Test find_test(std::string_view name) {
  const auto* const found = std::ranges::find(kTests, name, &TestRow::name);
  return found == std::end(kTests) ? nullptr : found->test;
}

}  // namespace mpitron::tokenizers::jinja
