#include "convert/description/stored_options.h"

#include <gtest/gtest.h>

namespace mpitron::convert {
namespace stored_options_test {

struct Sizes {
  Index rows = 1, columns = 2;
};
constexpr std::pair<const char*, Index Sizes::*> kSizes[] = {{"rows", &Sizes::rows},
                                                             {"columns", &Sizes::columns}};

TEST(StoredOptions, WhatIsAbsentStaysAsItWas) {
  const StoredOptions options(R"({"rows": 7, "columns": null, "list": [1, 2], "on": true})", "x");
  Sizes sizes;
  options.read_all(kSizes, sizes);
  EXPECT_EQ(sizes.rows, 7);
  EXPECT_EQ(sizes.columns, 2);
  std::optional<double> real;
  options.read("absent", real);
  EXPECT_FALSE(real);
  options.read("rows", real);
  EXPECT_EQ(real, 7.0);
  EXPECT_TRUE(options.flag("on"));
  EXPECT_FALSE(options.flag("off"));
  EXPECT_EQ(options.text("list"), "[1,2]");
  EXPECT_EQ(options.text("absent"), "");
}

TEST(StoredOptions, ValuesOfAnotherKindAreErrors) {
  const StoredOptions options(R"({"a": "two", "b": 2.5, "c": 1e300, "d": 1, "e": 3.0})", "x");
  Index number = 0;
  bool flag = false;
  std::string text;
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_THROW(options.read(name, number), Error) << name;
  }
  EXPECT_THROW(options.read("d", flag), Error);
  EXPECT_THROW(options.read("d", text), Error);
  EXPECT_TRUE(options.read("e", number));  // other writers have no integers
  EXPECT_EQ(number, 3);
  EXPECT_THROW(StoredOptions("[1", "x"), Error);
}

TEST(StoredOptions, WordsStandForValues) {
  constexpr std::pair<const char*, int> kWords[] = {{"one", 1}, {"two", 2}};
  int value = 1;
  StoredOptions(R"({"word": "two"})", "x").choose("word", kWords, value);
  EXPECT_EQ(value, 2);
  EXPECT_THROW(StoredOptions(R"({"word": "ten"})", "x").choose("word", kWords, value), Error);
  JsonObject json;
  write_choice("word", kWords, 2, json);
  EXPECT_EQ(json.text("word"), "two");
}

TEST(StoredOptions, SizesOutOfRangeAreErrors) {
  Sizes sizes;
  check_sizes(kSizes, sizes, 1, "x");
  EXPECT_THROW(check_sizes(kSizes, sizes, 2, "x"), Error);
  sizes.columns = kLargestSize + 1;
  EXPECT_THROW(check_sizes(kSizes, sizes, 1, "x"), Error);
}

}  // namespace stored_options_test
}  // namespace mpitron::convert
