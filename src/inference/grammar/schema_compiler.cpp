#include "inference/grammar/schema_compiler.h"

#include <cmath>
#include <functional>

#include <nlohmann/json.hpp>

#include "inference/grammar/schema_merge.h"
#include "inference/grammar/schema_walk.h"

// Compiles a JSON schema to a grammar. Each schema becomes a pattern. Keywords that no automaton
// can follow, such as uniqueItems, are refused by name.

namespace mpitron::inference {
namespace {

constexpr std::size_t kLargest = 256 << 10;
constexpr int kDeepest = 100;
constexpr std::int64_t kMostItems = 10'000;

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
