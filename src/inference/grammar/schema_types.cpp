#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "inference/grammar/regex_parser.h"
#include "inference/grammar/schema_walk.h"

// Compiles scalars of JSON by their keywords: texts and numbers.

namespace mpitron::inference {
namespace {

struct FormatRow {
  std::string_view name;
  std::string_view regex;
};
constexpr std::string_view kDate = R"(\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))";
constexpr std::string_view kTime =
    R"(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))";
constexpr FormatRow kFormats[] = {
    {"uuid", "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"},
    {"ipv4", R"(((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d))"},
    {"email",
     R"([A-Za-z0-9_+-]{1,64}(\.[A-Za-z0-9_+-]{1,64}){0,4}@([A-Za-z0-9]([A-Za-z0-9-]{0,60}[A-Za-z0-9])?\.){1,4}[A-Za-z]{2,20})"},
};

}  // namespace

Pattern SchemaWalk::string(const Json& json, const std::string& path) {
  refuse_others(json, {"type", "minLength", "maxLength", "pattern", "format"}, path);
  const bool has_length = json.contains("minLength") || json.contains("maxLength");
  if (json.contains("pattern") + json.contains("format") + has_length > 1) {
    fail(path, "a pattern, a format and a length are not available together");
  }
  if (json.contains("pattern")) {
    if (!json.at("pattern").is_string()) {
      fail(path, "pattern is a text");
    }
    return json_string(
        regex_search_pattern(json.at("pattern").get<std::string>(), json_characters));
  }
  if (json.contains("format")) {
    return format(json.at("format").is_string() ? json.at("format").get<std::string>() : "", path);
  }
  const std::int64_t least = count(json, "minLength", 0, path);
  const std::int64_t most = count(json, "maxLength", Pattern::kEndless, path);
  if (most != Pattern::kEndless && most < least) {
    fail(path, "maxLength is less than minLength");
  }
  const bool long_one = least > 100 || most > 100;
  const Pattern character = long_one ? as_rule(json_character()) : json_character();
  return json_string(Pattern::repeat(character, least, most));
}

Pattern SchemaWalk::format(const std::string& name, const std::string& path) {
  std::string regex;
  if (name == "date" || name == "date-time" || name == "time") {
    regex = std::string(name == "time" ? "" : kDate) + (name == "date-time" ? "T" : "") +
            std::string(name == "date" ? "" : kTime);
  } else if (const auto* const row = std::ranges::find(kFormats, name, &FormatRow::name);
             row != std::end(kFormats)) {
    regex = row->regex;
  } else {
    fail(path, "format {} is none of date, time, date-time, uuid, ipv4, email", name);
  }
  return json_string(regex_pattern(regex, json_characters));
}

/// Returns the tighter of a closed and an open bound.
std::optional<NumberBound> SchemaWalk::bound(const Json& json, const char* closed, const char* open,
                                             bool upper, const std::string& path) {
  std::optional<NumberBound> bound;
  for (const char* key : {closed, open}) {
    const auto found = json.find(key);
    if (found == json.end()) {
      continue;
    }
    const double value = found->is_number() ? found->get<double>() : NAN;
    const bool integer = json.at("type") == "integer";
    if (!(std::abs(value) < 1e15) || (value != std::floor(value) && !integer)) {
      fail(path, "{} is not available: bounds are integers below 1e15", key);
    }
    const bool fraction = value != std::floor(value);
    const auto whole = static_cast<std::int64_t>(upper ? std::floor(value) : std::ceil(value));
    const NumberBound next{whole, key == open && !fraction};
    const bool tighter = !bound || (upper ? next.value < bound->value : next.value > bound->value);
    if (tighter || (next.value == bound->value && next.open)) {
      bound = next;
    }
  }
  return bound;
}

Pattern SchemaWalk::number(const Json& json, bool integer, const std::string& path) {
  refuse_others(json, {"type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}, path);
  const auto least = bound(json, "minimum", "exclusiveMinimum", false, path);
  const auto most = bound(json, "maximum", "exclusiveMaximum", true, path);
  if (!integer) {
    return least || most ? json_number_range(least, most) : json_number();
  }
  const auto first = least ? std::optional(least->value + (least->open ? 1 : 0)) : std::nullopt;
  const auto last = most ? std::optional(most->value - (most->open ? 1 : 0)) : std::nullopt;
  return first && last && *first > *last ? Pattern::choice({}) : json_integer_range(first, last);
}

}  // namespace mpitron::inference
