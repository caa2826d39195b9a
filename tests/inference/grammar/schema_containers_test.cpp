#include <gtest/gtest.h>

#include "inference/grammar/schema_rows.h"

namespace mpitron::inference {
namespace schema_containers_test {

TEST(SchemaContainers, Objects) {
  expect({
      {R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"},
                                            "c": {}}, "required": ["b"]})",
       {R"({"b":"x"})", R"({"a": 1, "b": "x"})", R"({"a":1,"b":"","c":[{}]})",
        "{\n  \"b\": \"x\",\n  \"c\": null\n}"},
       {R"({})", R"({"a":1})", R"({"b":"x","a":1})", R"({"b":1})", R"({"b":"x","d":1})",
        R"({"b":"x",})"}},
      {R"({"properties": {"a": {"type": "null"}, "b": {"const": 1}}})",
       {"{}", R"({"a":null})", R"({"b":1})", R"({"a":null, "b":1})"},
       {R"({,"b":1})", R"({"a":null "b":1})"}},
      {R"({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"],
           "additionalProperties": {"type": "integer"}})",
       {R"({"a":null})", R"({"a":null,"ab":1,"x":2})"},
       {R"({"x":2})", R"({"a":null,"a":1})", R"({"a":null,"x":"y"})"}},
      {R"({"type": "object", "additionalProperties": {"type": "boolean"}, "minProperties": 1,
           "maxProperties": 2})",
       {R"({"x":true})", R"({"x":true,"y":false})"},
       {"{}", R"({"a":true,"b":true,"c":true})"}},
      {R"({"type": "object"})", {"{}", R"({"x":{"y":[]}})"}, {"[]"}},
      {R"({"type": "object", "properties": {}, "additionalProperties": false})",
       {"{}"},
       {R"({"a":1})"}},
  });
}

}  // namespace schema_containers_test

}  // namespace mpitron::inference
