#include "data/index/input_files.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace input_files_test {

using Files = std::vector<std::string>;

class InputFilesTest : public ::testing::Test {
 protected:
  InputFilesTest() {
    std::filesystem::create_directory(folder_ / "sub");
    for (const char* name : {"b.jsonl", "a.txt.gz", "sub/c.json.zst", "notes.md", "sub/d.ndjson"}) {
      test::write_bytes(folder_ / name, "x");
    }
  }
  test::TemporaryFolder folder_;
};

TEST_F(InputFilesTest, FoldersAndPatternsComeInTheOrderOfNames) {
  EXPECT_EQ(find_input_files({folder_.path()}),
            (Files{folder_ / "a.txt.gz", folder_ / "b.jsonl", folder_ / "sub/c.json.zst",
                   folder_ / "sub/d.ndjson"}));
  EXPECT_EQ(
      find_input_files({folder_ / "*/*", "-", folder_ / "notes.md"}),
      (Files{folder_ / "sub/c.json.zst", folder_ / "sub/d.ndjson", "-", folder_ / "notes.md"}));
}

TEST_F(InputFilesTest, WhatMeansNothingIsAnError) {
  const auto message = [](const Files& inputs) {
    return test::message_of([&] { find_input_files(inputs); });
  };
  EXPECT_NE(message({folder_ / "*.csv"}).find("no file matches"), std::string::npos);
  std::filesystem::create_directory(folder_ / "empty");
  EXPECT_NE(message({folder_ / "empty"}).find("holds no .jsonl"), std::string::npos);
  EXPECT_NE(message({folder_ / "b.jsonl", folder_.path()}).find("twice"), std::string::npos);
  EXPECT_EQ(find_input_files({folder_ / "none"}), Files{folder_ / "none"});  // the reader tells
}

TEST_F(InputFilesTest, AnInputIsNoOutput) {
  const auto message = [&](const std::string& output) {
    return test::message_of([&] {
      refuse_to_replace({"-", folder_ / "none", folder_ / "b.jsonl"}, "--output", output);
    });
  };
  EXPECT_EQ(message(folder_ / "other.jsonl"), "");
  EXPECT_EQ(message(folder_ / "notes.md"), "");
  std::filesystem::create_symlink(folder_ / "b.jsonl", folder_ / "link");
  for (const char* same : {"b.jsonl", "sub/../b.jsonl", "link"}) {
    EXPECT_NE(message(folder_ / same).find("name another file"), std::string::npos) << same;
  }
}

}  // namespace input_files_test
}  // namespace mpitron::data
