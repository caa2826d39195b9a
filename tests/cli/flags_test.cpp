#include "cli/flags.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::cli {
namespace flags_test {

struct Parsed {
  std::string name = "none";
  Index count = 3;
  std::vector<std::string> files;
  bool yes = false;

  bool parse(const Arguments& arguments) {
    Flags flags("test", "A test.");
    flags.option("--input-files", files, "files");
    flags.option("--name", name, "a name");
    flags.choices({"none", "a_b"});
    flags.option("--count", count, "a number");
    flags.also("--number");
    flags.flag("--yes", yes, "a flag");
    return flags.parse(arguments);
  }
};

TEST(Flags, FillsItsTargets) {
  Parsed parsed;
  EXPECT_TRUE(parsed.parse({"--input_files", "x", "y", "--name=a_b", "--yes", "--count", "-7"}));
  EXPECT_EQ(parsed.files, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(parsed.name, "a_b");
  EXPECT_EQ(parsed.count, -7);
  EXPECT_TRUE(parsed.yes);
}

TEST(Flags, AnotherSpellingIsTheSameOption) {
  Parsed parsed;
  EXPECT_TRUE(parsed.parse({"--number=5"}));
  EXPECT_EQ(parsed.count, 5);
  EXPECT_NE(test::message_of([] {
              Parsed().parse({"--number", "1", "--count", "2"});
            }).find("--count is given twice"),
            std::string::npos);
}

TEST(Flags, KeepsDefaults) {
  Parsed parsed;
  EXPECT_TRUE(parsed.parse({}));
  EXPECT_EQ(parsed.name, "none");
  EXPECT_EQ(parsed.count, 3);
}

TEST(Flags, MessagesNameTheCommandAlone) {
  const auto parse = [](const Arguments& words) {
    Flags("test run", "A test.", "folder... -o FILE").parse(words);
  };
  EXPECT_EQ(test::message_of([&] { parse({"--x"}); }),
            "mpitron test run: unknown option --x; --help lists the options");
  ::testing::internal::CaptureStdout();
  parse({"--help"});
  EXPECT_NE(::testing::internal::GetCapturedStdout().find("mpitron test run folder... -o FILE"),
            std::string::npos);
}

TEST(Flags, MistakesAreUsageErrors) {
  const auto message = [](const Arguments& arguments) {
    return test::message_of([&] { Parsed().parse(arguments); });
  };
  EXPECT_NE(message({"--coutn", "1"}).find("did you mean --count?"), std::string::npos);
  EXPECT_NE(message({"--inp", "1"}).find("unknown option --inp"), std::string::npos)
      << "no abbreviations";
  EXPECT_NE(message({"--count", "x"}).find("--count: takes a whole number, not 'x'"),
            std::string::npos);
  EXPECT_EQ(message({"--count", "1", "--yes", "--count=2"}),
            "mpitron test: --count is given twice: give it once");
  EXPECT_EQ(message({"--count", "--yes"}), "mpitron test: --count: a value must follow");
  EXPECT_EQ(message({"--name"}), "mpitron test: --name: a value must follow");
  EXPECT_EQ(message({"--input-files", "--yes"}),
            "mpitron test: --input-files: a value must follow");
  EXPECT_EQ(message({"--name", "other"}), "mpitron test: --name: other is none of none, a_b");
  EXPECT_EQ(message({"--name", "nonee"}),
            "mpitron test: --name: nonee is none of none, a_b; did you mean none?");
  EXPECT_NE(message({"stray"}), "");
}

}  // namespace flags_test
}  // namespace mpitron::cli
