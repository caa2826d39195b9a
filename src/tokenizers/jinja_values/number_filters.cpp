#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "tokenizers/jinja_values/operators.h"
#include "tokenizers/jinja_values/python_text.h"
#include "tokenizers/text/unicode_text.h"
#include "utils/error.h"

// Filters of numbers: abs, int, float and round.

namespace mpitron::tokenizers::jinja {
namespace {

Value abs_filter(Run& /*run*/, const Value& value, const Arguments& arguments) {
  arguments.bind("abs", {});
  if (!value.is_number()) {
    require_defined(value);
    throw Fault(fmt::format("bad operand type for abs(): '{}'", value.type_name()));
  }
  const bool negative = value.real() < 0;
  return negative ? negated(value) : value.is_bool() ? Value(value.integer()) : value;
}

/// Drops the prefix that names a base: 0x of 16, 0o of 8, 0b of 2.
std::string_view without_base(std::string_view text, std::int64_t base) {
  const std::string_view prefix = base == 16 ? "0x" : base == 8 ? "0o" : base == 2 ? "0b" : "";
  text = strip(text);
  text.remove_prefix(!prefix.empty() && text.starts_with(prefix) ? prefix.size() : 0);
  return text;
}

/// Returns the number that a whole text writes, with blanks around it; nothing for any other text.
template <class T>
std::optional<T> parsed(std::string_view text, int base) {
  text = strip(text);
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  T number{};
  std::from_chars_result read{};
  if constexpr (std::is_integral_v<T>) {
    read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  } else {
    read = std::from_chars(text.data(), text.data() + text.size(), number);
  }
  const bool all = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return all && !text.empty() ? std::optional(number) : std::nullopt;
}

/// Reads a text as an integer, else as a real number that is cut off, else gives the default.
/// Infinity and numbers beyond 64 bits have no integer.
Value int_filter(Run& run, const Value& value, const Arguments& arguments) {
  require_defined(value);
  const auto bound = arguments.bind("int", {"default", "base"});
  const Value otherwise = bound.get(0, 0);
  const std::int64_t base = bound.integer(1, 10);
  if (value.is_integer()) {
    return value.integer();
  }
  std::optional<double> real;
  if (value.is_real()) {
    real = value.real();
  } else if (value.text() != nullptr && base >= 2 && base <= 36) {
    run.spend(value.text()->size() / 32);
    if (const auto number =
            parsed<std::int64_t>(without_base(*value.text(), base), static_cast<int>(base))) {
      return *number;
    }
    real = parsed<double>(*value.text(), 10);
  }
  return real && std::abs(*real) < 9e18 ? Value(static_cast<std::int64_t>(*real)) : otherwise;
}

Value float_filter(Run& /*run*/, const Value& value, const Arguments& arguments) {
  require_defined(value);
  const auto bound = arguments.bind("float", {"default"});
  if (value.is_number()) {
    return value.real();
  }
  const auto number =
      value.text() != nullptr ? parsed<double>(*value.text(), 10) : std::optional<double>();
  return number ? Value(*number) : bound.get(0, 0.0);
}

/// Rounds halves to even, as Python's round does. Decimal places are rounded by way of the text,
/// which knows the number's exact digits.
Value round_filter(Run& /*run*/, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("round", {"precision", "method"});
  const std::string method = bound.text(1, "common");
  const auto places = static_cast<int>(std::clamp<std::int64_t>(bound.integer(0, 0), -15, 15));
  require_defined(value);
  if (!value.is_number() || (method != "common" && method != "ceil" && method != "floor")) {
    throw Fault("round takes a number, and the methods common, ceil and floor");
  }
  const double factor = std::pow(10.0, places);
  if (method == "common" && value.is_integer()) {  // Python's round of an integer is one
    return places >= 0
               ? Value(value.integer())
               : Value(static_cast<std::int64_t>(std::nearbyint(value.real() * factor) / factor));
  }
  if (method == "common") {
    return places > 0 ? Value(std::stod(fmt::format("{:.{}f}", value.real(), places)))
                      : Value(std::nearbyint(value.real() * factor) / factor);
  }
  const double scaled = value.real() * factor;
  return (method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / factor;
}

}  // namespace

std::span<const FilterRow> number_filters() {
  static constexpr FilterRow kRows[] = {
      {"abs", abs_filter},
      {"int", int_filter},
      {"float", float_filter},
      {"round", round_filter},
  };
  return kRows;
}

}  // namespace mpitron::tokenizers::jinja
