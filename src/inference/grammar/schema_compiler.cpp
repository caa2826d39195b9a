#include "inference/grammar/schema_compiler.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/grammar/json_patterns.h"
#include "inference/grammar/regex_parser.h"
#include "inference/grammar/schema_merge.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLargest = 256 << 10;
constexpr int kDeepest = 100;
constexpr std::int64_t kMostItems = 10'000;

/// Keywords that say nothing about the text.
constexpr std::string_view kNotes[] = {"title",    "description", "default",       "examples",
                                       "$schema",  "$id",         "$comment",      "deprecated",
                                       "readOnly", "writeOnly",   "$defs",         "definitions",
                                       "strict",   "name",        "discriminator", "nullable"};

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

class SchemaCompiler {
 public:
  explicit SchemaCompiler(Json root) : root_(std::move(root)) { grammar_.rules.emplace_back(); }

  Grammar compile() {
    grammar_.rules[0] = schema(root_, "#", 0);
    return std::move(grammar_);
  }

 private:
  template <class... Args>
  [[noreturn]] static void fail(const std::string& path, fmt::format_string<Args...> text,
                                Args&&... args) {
    throw_data("the schema at {}: {}", path, fmt::format(text, std::forward<Args>(args)...));
  }

  Pattern schema(const Json& json, const std::string& path, int depth);
  Pattern keywords(const Json& json, const std::string& path, int depth);
  Pattern typed(const Json& json, const std::string& type, const std::string& path, int depth);
  Pattern reference(const Json& json, const std::string& path, int depth);
  Pattern alternatives(const Json& json, const char* key, const std::string& path, int depth);
  Pattern literals(const Json& values, const std::string& path);
  Pattern string(const Json& json, const std::string& path);
  Pattern format(const std::string& name, const std::string& path);
  Pattern number(const Json& json, bool integer, const std::string& path);
  Pattern array(const Json& json, const std::string& path, int depth);
  Pattern object(const Json& json, const std::string& path, int depth);
  Pattern open_pairs(const Json& json, const std::vector<std::string>& named,
                     const std::string& path, int depth);
  Pattern any_value();
  Pattern as_rule(Pattern pattern);

  std::vector<std::string> types_of(const Json& json, const std::string& path);
  void refuse_others(const Json& json, std::initializer_list<std::string_view> known,
                     const std::string& path);
  static std::int64_t count(const Json& json, const char* key, std::int64_t otherwise,
                            const std::string& path);
  std::optional<NumberBound> bound(const Json& json, const char* closed, const char* open,
                                   bool upper, const std::string& path);

  Json root_;
  Grammar grammar_;
  std::map<std::string, std::size_t> rule_of_;  // by what a $ref names
  std::optional<std::size_t> any_;
};

Pattern SchemaCompiler::as_rule(Pattern pattern) {
  grammar_.rules.push_back(std::move(pattern));
  return Pattern::rule(grammar_.rules.size() - 1);
}

Pattern SchemaCompiler::any_value() {
  if (!any_) {
    any_ = grammar_.rules.size();
    grammar_.rules.emplace_back();
    grammar_.rules[*any_] = json_value(*any_);
  }
  return Pattern::rule(*any_);
}

Pattern SchemaCompiler::schema(const Json& json, const std::string& path, int depth) {
  if (depth > kDeepest) {
    fail(path, "it nests deeper than {}", kDeepest);
  }
  if (json.is_boolean()) {
    return json.get<bool>() ? any_value() : Pattern::choice({});
  }
  if (!json.is_object()) {
    fail(path, "a schema is an object, true or false");
  }
  if (json.contains("$ref")) {
    return reference(json, path, depth);
  }
  for (const char* key : {"allOf", "anyOf", "oneOf"}) {
    if (json.contains(key)) {
      return alternatives(json, key, path, depth);
    }
  }
  return keywords(json, path, depth);
}

/// What "#/a/b" names, as a rule of its own, so that it may hold itself.
Pattern SchemaCompiler::reference(const Json& json, const std::string& path, int depth) {
  if (!json.at("$ref").is_string()) {
    fail(path, "$ref is a text");
  }
  const auto name = json.at("$ref").get<std::string>();
  refuse_others(json, {"$ref"}, path);
  if (name != "#" && !name.starts_with("#/")) {
    fail(path, "$ref {} is not available: references begin with #/", name);
  }
  if (const auto known = rule_of_.find(name); known != rule_of_.end()) {
    return Pattern::rule(known->second);
  }
  const Json* target = nullptr;
  try {
    const Json::json_pointer place(name.substr(1));
    target = root_.contains(place) ? &root_.at(place) : nullptr;
  } catch (const Json::exception&) {
    target = nullptr;
  }
  if (target == nullptr) {
    fail(path, "$ref {} names nothing", name);
  }
  const std::size_t number = grammar_.rules.size();
  rule_of_.emplace(name, number);
  grammar_.rules.emplace_back();
  Pattern pattern = schema(*target, name, depth + 1);
  grammar_.rules[number] = std::move(pattern);
  return Pattern::rule(number);
}

/// anyOf and oneOf: one of them, each with what stands beside; allOf: all of them as one schema.
Pattern SchemaCompiler::alternatives(const Json& json, const char* key, const std::string& path,
                                     int depth) {
  const Json& list = json.at(key);
  if (!list.is_array() || list.empty()) {
    fail(path, "{} is a list of at least one schema", key);
  }
  Json beside = json;
  beside.erase(key);
  for (const std::string_view note : kNotes) {
    beside.erase(std::string(note));
  }
  const auto merged = [&](const Json& part) {
    try {
      return merge_schemas(beside,
                           resolve_reference(root_, part, beside.empty() && list.size() == 1));
    } catch (const Error& error) {
      fail(path, "{}", error.what());
    }
  };
  if (std::string_view(key) == "allOf") {
    for (const Json& part : list) {
      beside = merged(part);
    }
    return schema(beside, path, depth + 1);
  }
  std::vector<Pattern> parts;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json part = beside.empty() ? list[i] : merged(list[i]);
    parts.push_back(schema(part, fmt::format("{}/{}/{}", path, key, i), depth + 1));
  }
  return Pattern::choice(std::move(parts));
}

void SchemaCompiler::refuse_others(const Json& json, std::initializer_list<std::string_view> known,
                                   const std::string& path) {
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(known, key) == known.end() && !key.starts_with("x-") &&
        std::ranges::find(kNotes, key) == std::end(kNotes)) {
      fail(path, "{} is not available here", key);
    }
  }
}

std::vector<std::string> SchemaCompiler::types_of(const Json& json, const std::string& path) {
  constexpr std::string_view kTypes[] = {"string", "number", "integer", "boolean",
                                         "null",   "array",  "object"};
  std::vector<std::string> types;
  const auto add = [&](const Json& name) {
    if (!name.is_string() ||
        std::ranges::find(kTypes, name.get<std::string>()) == std::end(kTypes)) {
      fail(path, "type {} is none of string, number, integer, boolean, null, array, object",
           name.dump());
    }
    types.push_back(name.get<std::string>());
  };
  if (const auto type = json.find("type"); type != json.end()) {
    if (type->is_array()) {
      std::ranges::for_each(*type, add);
    } else {
      add(*type);
    }
    return types;
  }
  constexpr std::pair<const char*, const char*> kImplied[] = {
      {"properties", "object"}, {"required", "object"},   {"additionalProperties", "object"},
      {"items", "array"},       {"prefixItems", "array"}, {"minItems", "array"},
      {"maxItems", "array"},    {"pattern", "string"},    {"minLength", "string"},
      {"maxLength", "string"},  {"format", "string"},     {"minimum", "number"},
      {"maximum", "number"}};
  for (const auto& [key, type] : kImplied) {
    if (json.contains(key)) {
      return {type};
    }
  }
  return types;
}

Pattern SchemaCompiler::keywords(const Json& json, const std::string& path, int depth) {
  if (json.contains("const")) {
    refuse_others(json, {"const", "type"}, path);
    return literals(Json::array({json.at("const")}), path);
  }
  if (json.contains("enum")) {
    refuse_others(json, {"enum", "type"}, path);
    return literals(json.at("enum"), path);
  }
  const std::vector<std::string> types = types_of(json, path);
  if (types.empty()) {
    refuse_others(json, {"type"}, path);
    return any_value();
  }
  std::vector<Pattern> parts;
  for (const std::string& type : types) {
    Json of_type = json;
    of_type["type"] = type;
    parts.push_back(
        typed(types.size() > 1 ? keywords_of_type(of_type, type) : of_type, type, path, depth));
  }
  return Pattern::choice(std::move(parts));
}

Pattern SchemaCompiler::typed(const Json& json, const std::string& type, const std::string& path,
                              int depth) {
  if (type == "object") {
    return object(json, path, depth);
  }
  if (type == "array") {
    return array(json, path, depth);
  }
  if (type == "string") {
    return string(json, path);
  }
  if (type == "number" || type == "integer") {
    return number(json, type == "integer", path);
  }
  refuse_others(json, {"type"}, path);
  return type == "null" ? Pattern::text("null")
                        : Pattern::choice({Pattern::text("true"), Pattern::text("false")});
}

Pattern SchemaCompiler::literals(const Json& values, const std::string& path) {
  if (!values.is_array() || values.empty()) {
    fail(path, "enum is a list of at least one value");
  }
  std::vector<Pattern> parts;
  for (const Json& value : values) {
    parts.push_back(Pattern::text(value.dump()));
  }
  return Pattern::choice(std::move(parts));
}

std::int64_t SchemaCompiler::count(const Json& json, const char* key, std::int64_t otherwise,
                                   const std::string& path) {
  const auto found = json.find(key);
  if (found == json.end()) {
    return otherwise;
  }
  const double value = found->is_number() ? found->get<double>() : -1;
  if (value < 0 || value > kMostItems || value != std::floor(value)) {
    fail(path, "{} is an integer from 0 to {}", key, kMostItems);
  }
  return static_cast<std::int64_t>(value);
}

Pattern SchemaCompiler::string(const Json& json, const std::string& path) {
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

Pattern SchemaCompiler::format(const std::string& name, const std::string& path) {
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

/// The tighter of a closed and an open bound.
std::optional<NumberBound> SchemaCompiler::bound(const Json& json, const char* closed,
                                                 const char* open, bool upper,
                                                 const std::string& path) {
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

Pattern SchemaCompiler::number(const Json& json, bool integer, const std::string& path) {
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

Pattern SchemaCompiler::array(const Json& json, const std::string& path, int depth) {
  refuse_others(json, {"type", "items", "prefixItems", "minItems", "maxItems", "uniqueItems"},
                path);
  if (json.value("uniqueItems", Json(false)) != false) {
    fail(path, "uniqueItems is not available");
  }
  std::vector<Pattern> first;
  if (json.contains("prefixItems")) {
    const Json& list = json.at("prefixItems");
    for (std::size_t i = 0; i < list.size() && list.is_array(); ++i) {
      first.push_back(
          as_rule(schema(list[i], fmt::format("{}/prefixItems/{}", path, i), depth + 1)));
    }
  }
  const bool open = !json.contains("items") || json.at("items") != false;
  const Pattern item = json.contains("items") && open
                           ? as_rule(schema(json.at("items"), path + "/items", depth + 1))
                           : any_value();
  const auto named = static_cast<std::int64_t>(first.size());
  // A list with named places has exactly these unless `items` says what follows.
  const bool goes_on = open && (named == 0 || json.contains("items"));
  const std::int64_t least = std::max(count(json, "minItems", named, path), std::int64_t{0});
  const std::int64_t most = count(json, "maxItems", goes_on ? Pattern::kEndless : named, path);
  if ((most != Pattern::kEndless && most < least) || (!goes_on && least > named)) {
    return Pattern::choice({});
  }
  // From the last place on: each is there if all before it are.
  Pattern rest;
  if (goes_on && (most == Pattern::kEndless || most > named)) {
    const std::int64_t rest_least =
        std::max<std::int64_t>(least - std::max<std::int64_t>(named, 1), 0);
    const std::int64_t rest_most =
        most == Pattern::kEndless ? most : most - std::max<std::int64_t>(named, 1);
    rest = Pattern::repeat(Pattern::sequence({json_comma(), item}), rest_least, rest_most);
    if (named == 0) {
      rest = Pattern::sequence({item, rest});
      rest = least == 0 ? Pattern::optional(rest) : rest;
    }
  }
  for (std::int64_t i = std::min(named, most == Pattern::kEndless ? named : most); i-- > 0;) {
    const Pattern place = first[static_cast<std::size_t>(i)];
    rest =
        i == 0 ? Pattern::sequence({place, rest}) : Pattern::sequence({json_comma(), place, rest});
    rest = i >= least ? Pattern::optional(rest) : rest;
  }
  return json_brackets('[', rest, ']');
}

/// Further pairs of an object, with a comma in front of each but none before the first.
Pattern SchemaCompiler::open_pairs(const Json& json, const std::vector<std::string>& named,
                                   const std::string& path, int depth) {
  const auto found = json.find("additionalProperties");
  const bool given = found != json.end();
  if (!given || *found == false) {
    return Pattern::choice({});
  }
  const Pattern value =
      found->is_boolean() ? any_value() : schema(*found, path + "/additionalProperties", depth + 1);
  const Pattern key = named.empty()
                          ? json_string(Pattern::repeat(json_character(), 0, Pattern::kEndless))
                          : json_string_except(named);
  return as_rule(json_pair(key, as_rule(value)));
}

Pattern SchemaCompiler::object(const Json& json, const std::string& path, int depth) {
  refuse_others(
      json,
      {"type", "properties", "required", "additionalProperties", "minProperties", "maxProperties"},
      path);
  const Json properties = json.value("properties", Json::object());
  const Json required = json.value("required", Json::array());
  if (!properties.is_object() || !required.is_array()) {
    fail(path, "properties is an object, required a list of names");
  }
  if (properties.empty() && required.empty() && !json.contains("additionalProperties") &&
      !json.contains("minProperties") && !json.contains("maxProperties")) {
    any_value();
    return as_rule(json_object(*any_));
  }
  std::set<std::string> needed;
  for (const Json& name : required) {
    if (!name.is_string() || !properties.contains(name.get<std::string>())) {
      fail(path, "required names {}, which properties lacks", name.dump());
    }
    needed.insert(name.get<std::string>());
  }
  std::vector<Pattern> pairs;
  std::vector<bool> optional;
  std::vector<std::string> names;
  for (const auto& [name, part] : properties.items()) {
    const std::string place = path + "/properties/" + name;
    pairs.push_back(
        as_rule(json_pair(Pattern::text(Json(name).dump()), schema(part, place, depth + 1))));
    optional.push_back(!needed.contains(name));
    names.push_back(name);
  }
  const Pattern other = open_pairs(json, names, path, depth);
  const bool is_map = pairs.empty();
  const std::int64_t least = count(json, "minProperties", 0, path);
  const std::int64_t most = count(json, "maxProperties", Pattern::kEndless, path);
  if (!is_map && (least > static_cast<std::int64_t>(needed.size()) || most != Pattern::kEndless)) {
    fail(path, "minProperties and maxProperties are available without properties only");
  }
  if (is_map && most == 0) {
    return json_brackets('{', {}, '}');
  }
  // behind[i]: what may follow once something was written, from pair i on.
  const std::int64_t more = most == Pattern::kEndless ? most : most - 1;
  std::vector<Pattern> behind(pairs.size() + 1);
  behind[pairs.size()] = Pattern::repeat(Pattern::sequence({json_comma(), other}),
                                         is_map ? std::max<std::int64_t>(least - 1, 0) : 0, more);
  for (std::size_t i = pairs.size(); i-- > 0;) {
    const Pattern pair = Pattern::sequence({json_comma(), pairs[i]});
    behind[i] =
        as_rule(Pattern::sequence({optional[i] ? Pattern::optional(pair) : pair, behind[i + 1]}));
  }
  // The first pair that is written is one of those up to the first that is required.
  std::vector<Pattern> begins;
  bool may_be_empty = true;
  for (std::size_t i = 0; i < pairs.size() && may_be_empty; ++i) {
    begins.push_back(Pattern::sequence({pairs[i], behind[i + 1]}));
    may_be_empty = optional[i];
  }
  if (may_be_empty) {
    begins.push_back(Pattern::sequence({other, behind[pairs.size()]}));
    if (least == 0) {
      begins.emplace_back();
    }
  }
  return json_brackets('{', Pattern::choice(std::move(begins)), '}');
}

}  // namespace

Grammar schema_grammar(std::string_view schema) {
  if (schema.size() > kLargest) {
    throw_data("the schema has {} bytes; it may have {}", schema.size(), kLargest);
  }
  Json root = Json::parse(schema, nullptr, false);
  if (root.is_discarded()) {
    throw_data("the schema is no JSON");
  }
  return SchemaCompiler(std::move(root)).compile();
}

Grammar object_grammar() {
  return {{json_object(1), json_value(1)}};
}

}  // namespace mpitron::inference
