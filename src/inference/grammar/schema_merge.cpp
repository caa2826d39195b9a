#include "inference/grammar/schema_merge.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "utils/error.h"

// Schemas that hold together are merged into one before it is compiled; a row for each keyword says
// how two values become one.

namespace mpitron::inference {
namespace {

using MergeJson = nlohmann::ordered_json;

constexpr int kMostReferences = 20;

struct KeywordRow {
  std::string_view keyword;
  std::string_view types;
};
constexpr KeywordRow kKeywords[] = {{"properties", "object"},
                                    {"required", "object"},
                                    {"additionalProperties", "object"},
                                    {"minProperties", "object"},
                                    {"maxProperties", "object"},
                                    {"items", "array"},
                                    {"prefixItems", "array"},
                                    {"minItems", "array"},
                                    {"maxItems", "array"},
                                    {"uniqueItems", "array"},
                                    {"minLength", "string"},
                                    {"maxLength", "string"},
                                    {"pattern", "string"},
                                    {"format", "string"},
                                    {"minimum", "number integer"},
                                    {"maximum", "number integer"},
                                    {"exclusiveMinimum", "number integer"},
                                    {"exclusiveMaximum", "number integer"}};

constexpr std::string_view kLargerWins[] = {"minimum", "exclusiveMinimum", "minLength", "minItems",
                                            "minProperties"};
constexpr std::string_view kSmallerWins[] = {"maximum", "exclusiveMaximum", "maxLength", "maxItems",
                                             "maxProperties"};

template <std::size_t n>
bool is_one_of(std::string_view key, const std::string_view (&keys)[n]) {
  return std::ranges::find(keys, key) != std::end(keys);
}

MergeJson merge_values(const std::string& key, const MergeJson& a, const MergeJson& b) {
  if (a == b) {
    return a;
  }
  if (key == "properties" && a.is_object() && b.is_object()) {
    MergeJson all = a;
    for (const auto& [name, schema] : b.items()) {
      all[name] = all.contains(name) ? merge_schemas(all.at(name), schema) : schema;
    }
    return all;
  }
  if (key == "required" && a.is_array() && b.is_array()) {
    MergeJson all = a;
    for (const MergeJson& name : b) {
      if (std::ranges::find(all, name) == all.end()) {
        all.push_back(name);
      }
    }
    return all;
  }
  if (a.is_number() && b.is_number() && is_one_of(key, kLargerWins)) {
    return a.get<double>() > b.get<double>() ? a : b;
  }
  if (a.is_number() && b.is_number() && is_one_of(key, kSmallerWins)) {
    return a.get<double>() < b.get<double>() ? a : b;
  }
  throw_data("two values of {} are not available together", key);
}

}  // namespace

MergeJson merge_schemas(const MergeJson& a, const MergeJson& b) {
  if (!a.is_object() || !b.is_object()) {
    throw_data("schemas that are joined must be objects");
  }
  MergeJson all = a;
  for (const auto& [key, value] : b.items()) {
    const bool note = key == "title" || key == "description" || key == "default";
    all[key] = all.contains(key) && !note ? merge_values(key, all.at(key), value) : value;
  }
  return all;
}

MergeJson resolve_reference(const MergeJson& root, const MergeJson& schema, bool keeps) {
  MergeJson now = schema;
  for (int i = 0; !keeps && now.is_object() && now.contains("$ref"); ++i) {
    const MergeJson name = now.at("$ref");
    if (i > kMostReferences || !name.is_string() || !name.get<std::string>().starts_with('#')) {
      throw_data("$ref {} is not available", name.dump());
    }
    try {
      now = root.at(MergeJson::json_pointer(name.get<std::string>().substr(1)));
    } catch (const MergeJson::exception&) {
      throw_data("$ref {} names nothing", name.dump());
    }
  }
  return now;
}

MergeJson keywords_of_type(const MergeJson& schema, std::string_view type) {
  MergeJson kept = schema;
  for (const KeywordRow& row : kKeywords) {
    if (row.types.find(type) == std::string_view::npos) {
      kept.erase(std::string(row.keyword));
    }
  }
  return kept;
}

}  // namespace mpitron::inference
