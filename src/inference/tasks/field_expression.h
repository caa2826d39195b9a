#pragma once
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace mpitron::inference {

/// The value of an expression over the fields of a JSON object, of Jinja's what task files use:
/// names, parts (`choices.text`, `choices[0]`), texts, numbers, lists, dictionaries, sums, and
/// Python's methods strip, capitalize, lower, upper, split and index. Error(data) for others, and
/// where a field is missing.
nlohmann::json field_value(std::string_view expression, const nlohmann::json& document);

}  // namespace mpitron::inference
