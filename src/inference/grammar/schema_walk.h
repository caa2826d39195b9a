#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json_fwd.hpp>

#include "inference/grammar/json_patterns.h"
#include "utils/error.h"

namespace mpitron::inference {

/// Reads a schema and makes a grammar of it: one call of `schema` for each schema within it.
/// Paths ("#/properties/name") are for messages, `depth` counts the schemas that this one lies in.
/// Error(data) names the place of what has no grammar.
class SchemaWalk {
 public:
  using Json = nlohmann::ordered_json;

  /// `root`: outlives the walk.
  explicit SchemaWalk(const Json& root) : root_(root) { grammar_.rules.emplace_back(); }

  /// Compiles the whole schema; once.
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
  /// Compiles a schema without references and alternatives.
  Pattern keywords(const Json& json, const std::string& path, int depth);
  /// Compiles one of its types; the kinds of values are in schema_types.cpp.
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
  /// Returns any JSON, as one rule that all who want it share.
  Pattern any_value();
  /// Makes the pattern a rule of the grammar, so that its automaton is built once.
  Pattern as_rule(Pattern pattern);

  std::vector<std::string> types_of(const Json& json, const std::string& path);
  /// Refuses keywords that would change the language and are not known here.
  void refuse_others(const Json& json, std::initializer_list<std::string_view> known,
                     const std::string& path);
  /// Reads a number of items or characters from 0 on.
  static std::int64_t count(const Json& json, const char* key, std::int64_t otherwise,
                            const std::string& path);
  std::optional<NumberBound> bound(const Json& json, const char* closed, const char* open,
                                   bool upper, const std::string& path);

  const Json& root_;
  Grammar grammar_;
  std::map<std::string, std::size_t> rule_of_;  // by what a $ref names
  std::optional<std::size_t> any_;
};

}  // namespace mpitron::inference
