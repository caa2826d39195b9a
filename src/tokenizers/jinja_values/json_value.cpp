#include <nlohmann/json.hpp>

#include "tokenizers/jinja_values/value.h"
#include "utils/error.h"

// Values from JSON. Numbers beyond 63 bits become real.

namespace mpitron::tokenizers::jinja {
namespace {

constexpr int kDeepestJson = 100;

/// Converts JSON to values; Error(data) where it is nested too deeply for recursion.
Value value_of(const nlohmann::ordered_json& json, int depth) {
  if (depth > kDeepestJson) {
    throw_data("JSON is nested deeper than {}", kDeepestJson);
  }
  using JsonKind = nlohmann::ordered_json::value_t;
  switch (json.type()) {
    case JsonKind::boolean:
      return json.get<bool>();
    case JsonKind::number_integer:
      return json.get<std::int64_t>();
    case JsonKind::number_unsigned:
      return json.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)
                 ? Value(json.get<std::int64_t>())
                 : Value(json.get<double>());
    case JsonKind::number_float:
      return json.get<double>();
    case JsonKind::string:
      return json.get<std::string>();
    case JsonKind::array: {
      List items;
      items.reserve(json.size());
      for (const auto& each : json) {
        items.push_back(value_of(each, depth + 1));
      }
      return Value::of(std::move(items));
    }
    case JsonKind::object: {
      Dict dict;
      for (const auto& [key, each] : json.items()) {
        dict.set(key, value_of(each, depth + 1));
      }
      return Value::of(std::move(dict));
    }
    default:
      return {};
  }
}

}  // namespace

Value value_of_json(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    throw_data("this is no JSON: {}", text.substr(0, 60));
  }
  return value_of(json, 0);
}

}  // namespace mpitron::tokenizers::jinja
