#include "inference/grammar/schema_compiler.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "inference/grammar/grammar_walk.h"
#include "inference/grammar/schema_rows.h"
#include "support/fuzz.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace schema_compiler_test {

using test::Language;

TEST(SchemaCompiler, ArraysAndScalars) {
  expect({
      {R"({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3})",
       {"[1]", "[1, 2,3]"},
       {"[]", "[1,2,3,4]", "[\"a\"]"}},
      {R"({"type": "array"})", {"[]", "[1, \"a\", {}]"}, {"{}"}},
      {R"({"type": "array", "maxItems": 0})", {"[]"}, {"[1]"}},
      {R"({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]})",
       {R"([1,"a"])"},
       {"[1]", R"([1,"a",2])", "[]"}},
      {R"({"prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 1,
           "items": {"type": "null"}, "maxItems": 3})",
       {"[1]", R"([1,"a"])", R"([1,"a",null])"},
       {"[]", R"([1,null])", R"([1,"a",null,null])"}},
      {R"({"type": "string", "minLength": 2, "maxLength": 3})",
       {R"("ab")", R"("\n\u00e4")"},
       {R"("a")", R"("abcd")"}},
      {R"({"type": "string", "pattern": "^a.c$|\"q"})",
       {R"("abc")", R"("a\"c")", R"("x\"qy")"},
       {R"("xabc")", R"("a\nc")"}},
      {R"({"type": "string", "format": "date-time"})",
       {R"("2024-02-30T23:59:59Z")"},
       {R"("2024-13-01T00:00:00Z")", R"("2024-02-30")"}},
      {R"({"type": "string", "format": "uuid"})",
       {R"("123e4567-e89b-12d3-a456-426614174000")"},
       {R"("123e4567")"}},
      {R"({"enum": ["a", 1, null, {"x": [1]}]})", {R"("a")", "1", "null", R"({"x":[1]})"}, {"2"}},
      {R"({"type": ["integer", "null"], "minimum": 5})", {"5", "null"}, {"4"}},
      {R"({"type": "integer", "exclusiveMinimum": 0, "maximum": 9.5})", {"1", "9"}, {"0", "10"}},
      {R"({"type": "number", "minimum": 0, "exclusiveMaximum": 1})", {"0", "0.99"}, {"1", "-0.1"}},
      {R"(true)", {"1", "[{}]"}, {""}},
  });
}

TEST(SchemaCompiler, NamesWhatItCannotFollow) {
  const std::pair<const char*, const char*> rows[] = {
      {"[]", "#"},
      {"{", "no JSON"},
      {R"({"type": "foo"})", "type \"foo\""},
      {R"({"properties": {"a": {"type": "object", "not": {}}}})", "#/properties/a: not"},
      {R"({"type": "string", "format": "hostname"})", "format hostname"},
      {R"({"type": "string", "pattern": "a", "maxLength": 3})", "together"},
      {R"({"type": "string", "pattern": "("})", "regular expression"},
      {R"({"type": "number", "multipleOf": 2})", "multipleOf"},
      {R"({"type": "number", "minimum": 0.5})", "minimum"},
      {R"({"type": "array", "uniqueItems": true})", "uniqueItems"},
      {R"({"type": "array", "minItems": -1})", "minItems"},
      {R"({"$ref": "http://x/y"})", "$ref http"},
      {R"({"$ref": "#/$defs/x"})", "names nothing"},
      {R"({"properties": {}, "required": ["a"]})", "required names \"a\""},
      {R"({"enum": []})", "enum"},
      {R"({"anyOf": []})", "anyOf"},
      {R"({"allOf": [{"type": "string"}, {"type": "null"}]})", "type"},
      {R"({"patternProperties": {"a": {}}, "type": "object"})", "patternProperties"},
      {R"({"if": {}, "then": {}})", "if"},
  };
  for (const auto& [schema, part] : rows) {
    try {
      schema_grammar(schema);
      ADD_FAILURE() << schema;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(Language::schema("false"), Error);
  EXPECT_THROW(Language::schema(R"({"$ref": "#"})"), Error);
  EXPECT_THROW(Language::schema(R"({"type": "integer", "minimum": 3, "maximum": 2})"), Error);
}

/// Damaged schemas are refused or followed; texts drawn from those that are followed are JSON.
TEST(FuzzSchemas, AreFollowedOrRefused) {
  const std::vector<std::string> schemas = {
      R"({"type": "object", "properties": {"name": {"type": "string", "maxLength": 8}, "age":
          {"type": "integer", "minimum": 0, "maximum": 130}, "tags": {"type": "array", "items":
          {"enum": ["a", "b"]}, "maxItems": 3}}, "required": ["name"]})",
      R"({"$defs": {"n": {"properties": {"l": {"$ref": "#/$defs/n"}, "v": {"type": ["number",
          "null"]}}}}, "anyOf": [{"$ref": "#/$defs/n"}, {"type": "boolean"}]})",
      R"({"type": "string", "pattern": "^[a-z]{2,5}(\\d|_)*$"})",
      R"({"prefixItems": [{"const": 1}, {"format": "date", "type": "string"}], "items": {}})"};
  std::mt19937_64 random(5);
  test::fuzz(schemas, test::FuzzLength::of_ci(1500), [&](const std::string& schema) {
    Language language = Language::schema(schema);
    for (int i = 0; i < 5; ++i) {
      if (const auto text = language.draw(random, 10, 300)) {
        EXPECT_TRUE(nlohmann::json::accept(*text)) << schema << "\n" << *text;
      }
    }
  });
}

}  // namespace schema_compiler_test

}  // namespace mpitron::inference
