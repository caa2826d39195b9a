#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "inference/grammar/schema_walk.h"

// Compiles lists and objects of JSON by their keywords.

namespace mpitron::inference {

Pattern SchemaWalk::array(const Json& json, const std::string& path, int depth) {
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

/// Makes a further pair of an object, of no named property; nothing fits where there may be none.
Pattern SchemaWalk::open_pairs(const Json& json, const std::vector<std::string>& named,
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

Pattern SchemaWalk::object(const Json& json, const std::string& path, int depth) {
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

}  // namespace mpitron::inference
