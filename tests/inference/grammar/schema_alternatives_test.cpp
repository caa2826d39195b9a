#include <gtest/gtest.h>

#include "inference/grammar/schema_rows.h"

namespace mpitron::inference {
namespace schema_alternatives_test {

TEST(SchemaAlternatives, ReferencesAndAlternatives) {
  expect({
      {R"({"$defs": {"node": {"type": "object", "properties": {"v": {"type": "integer"},
            "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}, "required": ["v"]}},
           "$ref": "#/$defs/node"})",
       {R"({"v":1})", R"({"v":1,"next":{"v":2,"next":null}})"},
       {R"({"next":null})"}},
      {R"({"type": "array", "items": {"$ref": "#"}})", {"[]", "[[],[[]]]"}, {"[1]"}},
      {R"({"anyOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]},
                     {"properties": {"a": {"type": "string"}, "b": {"type": "null"}},
                      "required": ["b"]}]})",
       {R"({"a":1})", R"({"a":"x","b":null})", R"({"b":null})"},
       {R"({"a":"x"})", R"({"a":1,"b":null})"}},
      {R"({"allOf": [{"$ref": "#/$defs/a"}, {"properties": {"b": {"type": "null"}}}],
           "$defs": {"a": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}})",
       {R"({"a":1})", R"({"a":1,"b":null})"},
       {R"({"b":null})"}},
      {R"({"type": "object", "properties": {"k": {"const": 1}}, "required": ["k"],
           "oneOf": [{"properties": {"x": {"const": 2}}, "required": ["x"]},
                     {"properties": {"y": {"const": 3}}, "required": ["y"]}]})",
       {R"({"k":1,"x":2})", R"({"k":1,"y":3})"},
       {R"({"k":1})"}},
  });
}

}  // namespace schema_alternatives_test

}  // namespace mpitron::inference
