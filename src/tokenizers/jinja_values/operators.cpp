#include "tokenizers/jinja_values/operators.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tokenizers/jinja_values/python_text.h"
#include "utils/text/utf8.h"

// Python's operators on values. Integers have 64 bits: a result beyond them is a Fault, never a
// wrong number. Comparison and repetition are counted as work by what they touch.

namespace mpitron::tokenizers::jinja {
namespace {

constexpr std::string_view kSigns[] = {"+", "-", "*", "/", "//", "%", "** or pow()"};

[[noreturn]] void no_operation(std::string_view sign, const Value& left, const Value& right) {
  throw Fault(fmt::format("unsupported operand type(s) for {}: '{}' and '{}'", sign,
                          left.type_name(), right.type_name()));
}

/// Returns the value, or throws where it did not fit: Python's integers have no limit.
std::int64_t checked(bool overflow, std::int64_t value) {
  if (overflow) {
    throw Fault("integers beyond 64 bits are not available");
  }
  return value;
}

/// Multiplies step by step: beyond 63 factors only 0, 1 and -1 do not overflow.
std::int64_t integer_power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i) {
    if (result == 0 || (result == 1 && base == 1)) {
      break;
    }
    if (base == -1) {
      return exponent % 2 == 0 ? 1 : -1;
    }
    const bool overflow = __builtin_mul_overflow(result, base, &result);
    checked(overflow, result);
  }
  return result;
}

/// Computes with integers; division and remainder round towards minus infinity, as in Python.
Value compute_integers(Operation operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflow = false;
  switch (operation) {
    case Operation::add:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Operation::subtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case Operation::multiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case Operation::power:
      return integer_power(a, b);
    default:
      overflow = a == INT64_MIN && b == -1;
      if (!overflow) {
        const bool down = a % b != 0 && (a < 0) != (b < 0);  // towards minus infinity
        result = operation == Operation::modulo ? a % b + (down ? b : 0) : a / b - (down ? 1 : 0);
      }
  }
  return checked(overflow, result);
}

/// The remainder has the sign of the divisor, as Python's.
Value compute_reals(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return a / b;
    case Operation::floor_divide:
      return std::floor(a / b);
    case Operation::modulo:
      return a - b * std::floor(a / b);
    default:
      return std::pow(a, b);
  }
}

/// Integers stay integers but for `/` and powers with negative exponents.
Value compute_numbers(Operation operation, const Value& left, const Value& right) {
  const bool divides = operation == Operation::divide || operation == Operation::floor_divide ||
                       operation == Operation::modulo;
  if (divides && right.real() == 0) {
    throw Fault(left.is_integer() && right.is_integer() ? operation == Operation::divide
                                                              ? "division by zero"
                                                              : "integer division or modulo by zero"
                                                        : "float division by zero");
  }
  const bool integers = left.is_integer() && right.is_integer() && operation != Operation::divide &&
                        !(operation == Operation::power && right.integer() < 0);
  return integers ? compute_integers(operation, left.integer(), right.integer())
                  : compute_reals(operation, left.real(), right.real());
}

/// Bounds the count before it is multiplied by the size, which could overflow.
Value repeated(Run& run, const Value& value, std::int64_t times) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
  if (const std::string* text = value.text()) {
    if (text->empty() || count == 0) {
      return "";
    }
    run.spend(std::min(count, SIZE_MAX / 64 / text->size()) * text->size() / 32 + count / 32);
    std::string result;
    for (std::size_t i = 0; i < count; ++i) {
      result += *text;
    }
    return result;
  }
  List items;
  run.spend(value.list()->empty() ? 0 : count);
  for (std::size_t i = 0; i < count && !value.list()->empty(); ++i) {
    run.spend(value.list()->size());
    items.insert(items.end(), value.list()->begin(), value.list()->end());
  }
  return run.list(std::move(items), value.is_tuple());
}

/// Returns whether this is a text or list times an integer.
bool repeats(const Value& value, const Value& times) {
  return (value.text() != nullptr || value.list() != nullptr) && times.is_integer();
}

/// Joins two texts, two lists or two tuples; anything else is Python's error, word for word.
Value added(Run& run, const Value& left, const Value& right) {
  if (left.text() != nullptr && right.text() != nullptr) {
    return run.text(*left.text() + *right.text());
  }
  if (left.list() != nullptr && right.list() != nullptr && left.is_tuple() == right.is_tuple()) {
    List items = *left.list();
    run.spend(right.list()->size());
    items.insert(items.end(), right.list()->begin(), right.list()->end());
    return run.list(std::move(items), left.is_tuple());
  }
  if (left.text() != nullptr || left.list() != nullptr) {
    const std::string_view type = left.type_name();
    throw Fault(left.text() != nullptr
                    ? fmt::format("can only concatenate str (not \"{}\") to str", right.type_name())
                    : fmt::format("can only concatenate {} (not \"{}\") to {}", type,
                                  right.type_name(), type));
  }
  no_operation("+", left, right);
}

/// The order of keys does not count.
bool equal_dicts(Run& run, const Dict& left, const Dict& right) {
  return left.size() == right.size() && std::ranges::all_of(left.items(), [&](const auto& item) {
           const Value* other = right.find(item.first);
           return other != nullptr && equal(run, item.second, *other);
         });
}

bool equal_lists(Run& run, const List& left, const List& right) {
  if (left.size() != right.size()) {
    return false;
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!equal(run, left[i], right[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace

void require_defined(const Value& value) {
  if (value.is_undefined()) {
    throw Fault(value.why());
  }
}

/// Numbers first, then what texts and lists can: +, * by an integer, % as a format.
Value compute(Run& run, Operation operation, const Value& left, const Value& right) {
  require_defined(left);
  require_defined(right);
  if (left.is_number() && right.is_number()) {
    return compute_numbers(operation, left, right);
  }
  if (operation == Operation::add) {
    return added(run, left, right);
  }
  if (operation == Operation::multiply && repeats(left, right)) {
    return repeated(run, left, right.integer());
  }
  if (operation == Operation::multiply && repeats(right, left)) {
    return repeated(run, right, left.integer());
  }
  if (operation == Operation::modulo && left.text() != nullptr) {
    return run.text(percent_format(run, *left.text(), right));
  }
  no_operation(kSigns[static_cast<std::size_t>(operation)], left, right);
}

Value negated(const Value& value) {
  require_defined(value);
  if (!value.is_number()) {
    throw Fault(fmt::format("bad operand type for unary -: '{}'", value.type_name()));
  }
  if (value.is_real()) {
    return -value.real();
  }
  return compute_integers(Operation::subtract, 0, value.integer());
}

/// Lists may hold themselves: the depth is limited, not the walk. Objects are equal to themselves
/// only.
bool equal(Run& run, const Value& left, const Value& right) {
  run.spend();
  return run.deeper([&] {
    if (left.is_number() && right.is_number()) {
      return left.is_integer() && right.is_integer() ? left.integer() == right.integer()
                                                     : left.real() == right.real();
    }
    if (left.text() != nullptr && right.text() != nullptr) {
      return *left.text() == *right.text();
    }
    if (left.list() != nullptr && right.list() != nullptr) {
      return left.is_tuple() == right.is_tuple() && equal_lists(run, *left.list(), *right.list());
    }
    if (left.dict() != nullptr && right.dict() != nullptr) {
      return equal_dicts(run, *left.dict(), *right.dict());
    }
    if (left.object() != nullptr || right.object() != nullptr) {
      return left.object() == right.object();
    }
    return (left.is_none() && right.is_none()) || (left.is_undefined() && right.is_undefined());
  });
}

/// Compares lists element by element; the first that differs decides.
bool less(Run& run, const Value& left, const Value& right, std::string_view sign) {
  require_defined(left);
  require_defined(right);
  run.spend();
  return run.deeper([&] {
    if (left.is_number() && right.is_number()) {
      return left.is_integer() && right.is_integer() ? left.integer() < right.integer()
                                                     : left.real() < right.real();
    }
    if (left.text() != nullptr && right.text() != nullptr) {
      return *left.text() < *right.text();
    }
    if (left.list() == nullptr || right.list() == nullptr || left.is_tuple() != right.is_tuple()) {
      throw Fault(fmt::format("'{}' not supported between instances of '{}' and '{}'", sign,
                              left.type_name(), right.type_name()));
    }
    const List &a = *left.list(), &b = *right.list();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (!equal(run, a[i], b[i])) {
        return less(run, a[i], b[i], sign);
      }
    }
    return a.size() < b.size();
  });
}

/// Looks for a part of a text, a key of a dictionary, or an element of a list. An undefined value
/// contains nothing.
bool contains(Run& run, const Value& container, const Value& item) {
  if (const std::string* text = container.text()) {
    if (item.text() == nullptr) {
      throw Fault(
          fmt::format("'in <string>' requires string as left operand, not {}", item.type_name()));
    }
    run.spend(text->size() / 32);
    return text->find(*item.text()) != std::string::npos;
  }
  if (const Dict* dict = container.dict()) {
    return dict->find(item) != nullptr;
  }
  if (container.list() == nullptr && !container.is_undefined()) {
    throw Fault(fmt::format("argument of type '{}' is not iterable", container.type_name()));
  }
  return !container.is_undefined() &&
         std::ranges::any_of(*container.list(),
                             [&](const Value& each) { return equal(run, each, item); });
}

}  // namespace mpitron::tokenizers::jinja
