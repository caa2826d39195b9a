#include <algorithm>

#include <nlohmann/json.hpp>

#include "inference/grammar/schema_merge.h"
#include "inference/grammar/schema_walk.h"

// Compiles references and alternatives: `$ref` becomes a rule, so that recursive schemas work.

namespace mpitron::inference {
namespace {

/// Keywords that say nothing about the text.
constexpr std::string_view kNotes[] = {"title",    "description", "default",       "examples",
                                       "$schema",  "$id",         "$comment",      "deprecated",
                                       "readOnly", "writeOnly",   "$defs",         "definitions",
                                       "strict",   "name",        "discriminator", "nullable"};

}  // namespace

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

}  // namespace mpitron::inference
