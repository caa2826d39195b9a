#include "convert/description/json_object.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::convert {
namespace json_object_test {

TEST(JsonObject, ReadsWhatIsThere) {
  const JsonObject json(R"({"a": 3, "b": "x", "c": true, "d": null, "e": {"f": 0.5}, "g": [1]})",
                        "here");
  EXPECT_EQ(json.size("a"), 3);
  EXPECT_EQ(json.size("d", 7), 7) << "null counts as absent";
  EXPECT_EQ(json.text("b"), "x");
  EXPECT_EQ(json.text("g"), "[1]");
  EXPECT_EQ(json.text("d", "y"), "y");
  EXPECT_TRUE(json.flag("c", false));
  EXPECT_TRUE(json.flag("d", true));
  EXPECT_EQ(json.real("a", 0), 3);
  EXPECT_EQ(json.object("e").real("f", 0), 0.5);
  EXPECT_FALSE(json.object("z").has("f"));
  EXPECT_FALSE(json.has("d"));
}

TEST(JsonObject, RefusesOtherTypes) {
  const JsonObject json(R"({"a": 0, "b": 1e300, "c": 1.5, "d": "4", "e": 1})", "here");
  for (const char* name : {"a", "b", "c", "d", "absent"}) {
    EXPECT_THROW(json.size(name), Error) << name;
  }
  EXPECT_THROW(json.size("a", 3), Error);
  EXPECT_THROW(json.flag("e", true), Error);
  EXPECT_THROW(JsonObject("[1]", "here"), Error);
  EXPECT_THROW(JsonObject("{", "here"), Error);
  const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THROW(JsonObject("{\"a\":" + nested + "}", "here"), Error);
}

TEST(JsonObject, WritesMembersInTheirOrder) {
  JsonObject json(R"({"z": 1, "a": 2})", "here"), inner;
  inner.set("f", 0.5);
  json.set("a", Index{5});
  json.set("m", "text");
  json.set("n", true);
  json.set("o", inner);
  json.set_list("l", {"x"});
  json.set_null("q");
  JsonObject copy = json;
  json.erase("m");
  EXPECT_EQ(JsonObject(json.dump(), "again").size("a"), 5);
  EXPECT_EQ(json.dump(),
            "{\n  \"z\": 1,\n  \"a\": 5,\n  \"n\": true,\n  \"o\": {\n    \"f\": 0.5\n  },\n"
            "  \"l\": [\n    \"x\"\n  ],\n  \"q\": null\n}\n");
  EXPECT_EQ(copy.text("m"), "text");
}

TEST(JsonObject, TakesListsOfNumbers) {
  JsonObject json;
  json.set_list("x", std::vector<Index>{1, 0, 3});
  EXPECT_EQ(json.reals("x"), (std::vector<double>{1, 0, 3}));
}

}  // namespace json_object_test
}  // namespace mpitron::convert
