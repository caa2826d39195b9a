#include "inference/grammar/schema_merge.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "utils/error.h"

namespace mpitron::inference {
namespace schema_merge_test {

using Json = nlohmann::ordered_json;

TEST(SchemaMerge, JoinsWhatHasACommonForm) {
  const Json a = Json::parse(R"({"type": "object", "title": "A", "required": ["x"], "minimum": 1,
                                 "properties": {"x": {"minLength": 2}}})");
  const Json b = Json::parse(R"({"type": "object", "title": "B", "required": ["y", "x"],
                                 "minimum": 3, "maximum": 9,
                                 "properties": {"x": {"minLength": 1, "maxLength": 4}, "y": {}}})");
  EXPECT_EQ(merge_schemas(a, b),
            Json::parse(R"({"type": "object", "title": "B", "required": ["x", "y"], "minimum": 3,
                            "properties": {"x": {"minLength": 2, "maxLength": 4}, "y": {}},
                            "maximum": 9})"));
  EXPECT_THROW(merge_schemas(a, Json::parse(R"({"type": "string"})")), Error);
  EXPECT_THROW(merge_schemas(a, Json(true)), Error);
}

TEST(SchemaMerge, FollowsReferences) {
  const Json root = Json::parse(R"({"a": {"$ref": "#/b"}, "b": {"x": 1}, "c": {"$ref": "#/c"}})");
  EXPECT_EQ(resolve_reference(root, Json::parse(R"({"$ref": "#/a"})"), false),
            Json::parse(R"({"x": 1})"));
  EXPECT_THROW(resolve_reference(root, Json::parse(R"({"$ref": "#/c"})"), false), Error);
  EXPECT_THROW(resolve_reference(root, Json::parse(R"({"$ref": "#/zz"})"), false), Error);
  EXPECT_EQ(
      keywords_of_type(Json::parse(R"({"minimum": 1, "maxLength": 2, "enum": [1]})"), "string"),
      Json::parse(R"({"maxLength": 2, "enum": [1]})"));
}

}  // namespace schema_merge_test
}  // namespace mpitron::inference
