#include "inference/grammar/schema_compiler.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <nlohmann/json.hpp>

#include "inference/grammar/schema_merge.h"
#include "inference/grammar/schema_walk.h"

// Compiles a JSON schema to a grammar. Each schema becomes a pattern; `$ref` becomes a rule, so
// that recursive schemas work. Keywords that no automaton can follow, such as uniqueItems, are
// refused by name.

namespace mpitron::inference {
namespace {

constexpr std::size_t kLargest = 256 << 10;
constexpr int kDeepest = 100;
constexpr std::int64_t kMostItems = 10'000;

/// Keywords that say nothing about the text.
constexpr std::string_view kNotes[] = {"title",    "description", "default",       "examples",
                                       "$schema",  "$id",         "$comment",      "deprecated",
                                       "readOnly", "writeOnly",   "$defs",         "definitions",
                                       "strict",   "name",        "discriminator", "nullable"};

}  // namespace

Pattern SchemaWalk::as_rule(Pattern pattern) {
  grammar_.rules.push_back(std::move(pattern));
  return Pattern::rule(grammar_.rules.size() - 1);
}

Pattern SchemaWalk::any_value() {
  if (!any_) {
    any_ = grammar_.rules.size();
    grammar_.rules.emplace_back();
    grammar_.rules[*any_] = json_value(*any_);
  }
  return Pattern::rule(*any_);
}

Pattern SchemaWalk::schema(const Json& json, const std::string& path, int depth) {
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

/// Compiles what "#/a/b" names as a rule of its own, so that it may hold itself.
Pattern SchemaWalk::reference(const Json& json, const std::string& path, int depth) {
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

/// Compiles alternatives: of anyOf and oneOf one, each with what stands beside; of allOf all as one
/// schema.
Pattern SchemaWalk::alternatives(const Json& json, const char* key, const std::string& path,
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

void SchemaWalk::refuse_others(const Json& json, std::initializer_list<std::string_view> known,
                               const std::string& path) {
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(known, key) == known.end() && !key.starts_with("x-") &&
        std::ranges::find(kNotes, key) == std::end(kNotes)) {
      fail(path, "{} is not available here", key);
    }
  }
}

std::vector<std::string> SchemaWalk::types_of(const Json& json, const std::string& path) {
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

Pattern SchemaWalk::keywords(const Json& json, const std::string& path, int depth) {
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

Pattern SchemaWalk::typed(const Json& json, const std::string& type, const std::string& path,
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

Pattern SchemaWalk::literals(const Json& values, const std::string& path) {
  if (!values.is_array() || values.empty()) {
    fail(path, "enum is a list of at least one value");
  }
  std::vector<Pattern> parts;
  for (const Json& value : values) {
    parts.push_back(Pattern::text(value.dump()));
  }
  return Pattern::choice(std::move(parts));
}

std::int64_t SchemaWalk::count(const Json& json, const char* key, std::int64_t otherwise,
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

Grammar schema_grammar(std::string_view schema) {
  if (schema.size() > kLargest) {
    throw_data("the schema has {} bytes; it may have {}", schema.size(), kLargest);
  }
  const auto root = nlohmann::ordered_json::parse(schema, nullptr, false);
  if (root.is_discarded()) {
    throw_data("the schema is no JSON");
  }
  return SchemaWalk(root).compile();
}

Grammar object_grammar() {
  return {{json_object(1), json_value(1)}};
}

}  // namespace mpitron::inference
