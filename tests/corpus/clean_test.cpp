#include "corpus/clean.h"

#include <gtest/gtest.h>

#include "corpus/sample_texts.h"
#include "support/corpus.h"
#include "utils/system/files.h"

namespace mpitron::corpus {
namespace clean_test {

class CleanTest : public ::testing::Test {
 protected:
  CleanOptions options(const std::string& input) const {
    test::write_bytes(folder_ / "in.jsonl", input);
    CleanOptions options;
    options.inputs = {folder_ / "in.jsonl"};
    options.output = folder_ / "out.jsonl";
    return options;
  }
  static std::string line(const std::string& text, const std::string& url = "http://site.org/a") {
    return "{\"url\": \"" + url + "\", \"text\": \"" + text + "\"}\n";
  }
  static Index count(const CleanReport& report, Fate fate) {
    return report.fates[static_cast<std::size_t>(fate)];
  }
  test::TemporaryFolder folder_;
};

TEST_F(CleanTest, EveryDocumentHasItsFate) {
  const std::string good = sample_text(1, 300);
  const std::string input =
      line(good) + line(good, "http://x") + line(good, "mailto:somebody@site.org") +
      line(good, "http://site.org/a.png") + line(good, "http://youtube.com/a") +
      line("Die Katze und der Hund sind nicht auf der Matte, sondern in dem Haus.") +
      line("The cat and the dog are in the house, and that is all of it.") +
      line("cafÃ©. " + good) + "{\"text\": \"" + good + "\", \"n\": 1.50}\n" + "{\"n\": 1}\n";
  CleanOptions given = options(input);
  EXPECT_NE(test::message_of([&] { clean(given); }).find("in.jsonl:10: document at byte"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(given.output));
  given.skip_bad_lines = true;
  const CleanReport report = clean(given);
  EXPECT_EQ(report.documents, 10);
  EXPECT_EQ(count(report, Fate::kept), 3);
  for (std::size_t fate = 1; fate + 1 < kFates; ++fate) {
    EXPECT_EQ(report.fates[fate], 1) << to_string(static_cast<Fate>(fate));
  }
  EXPECT_EQ(report.fixed, 1);
  EXPECT_EQ(report.written, 3);
  EXPECT_EQ(read_file(given.output),
            line(good) + line("café. " + good) + "{\"text\": \"" + good + "\", \"n\": 1.50}\n");
  EXPECT_EQ(report.bytes_written, std::ssize(read_file(given.output)));
}

TEST_F(CleanTest, TheOutputDoesNotDependOnTheWorkers) {
  std::string input;
  for (unsigned d = 0; d < 3000; ++d) {
    input += line((d % 3 == 0 ? "Â© " : "") + sample_text(d, 100 + static_cast<int>(d % 7) * 20));
  }
  CleanOptions given = options(input);
  given.id_prefix = "web";
  std::vector<std::string> outputs;
  for (const int workers : {1, 2, 5}) {
    given.workers = workers;
    clean(given);
    outputs.push_back(read_file(given.output));
    EXPECT_EQ(outputs.back(), outputs.front());
  }
  EXPECT_TRUE(outputs[0].starts_with("{\"id\": \"web-0000000001\", \"url\": "));
  EXPECT_NE(outputs[0].find("web-0000000002"), std::string::npos);
}

TEST_F(CleanTest, TasksAreCutOut) {
  const std::string leak =
      "A quick brown fox jumps over one lazy dog while seven wise owls watch from above. ";
  CleanOptions given = options(line(sample_text(1, 300)) +
                               line(sample_text(2, 300) + leak + sample_text(3, 300)) + line(leak));
  given.min_tokens = 0;
  given.language.clear();
  test::write_bytes(folder_ / "task.jsonl", "{\"text\": \"" + leak + "\"}\n");
  given.task_files = {folder_ / "task.jsonl"};
  const CleanReport report = clean(given);
  EXPECT_EQ(report.written, 3);  // one as it was, one in two pieces
  EXPECT_EQ(report.split, 1);
  EXPECT_EQ(count(report, Fate::contaminated), 1);
  EXPECT_EQ(read_file(given.output).find("lazy dog"), std::string::npos);
  test::write_bytes(folder_ / "task.jsonl", "{\"text\": \"short\"}\n");
  EXPECT_NE(test::message_of([&] { clean(given); }).find("no text has 8 words"), std::string::npos);
  test::write_bytes(folder_ / "task.jsonl", "{\"text\": \"" + leak + "\"}\n{\n");
  EXPECT_NE(test::message_of([&] { clean(given); }).find("task.jsonl:2: not valid JSON"),
            std::string::npos);
}

TEST_F(CleanTest, AStopAtAnyMomentLeavesNoFile) {
  CleanOptions given = options(line("x"));
  int asked = 0;
  int answered = 1 << 20;
  given.stop = [&] { return ++asked == answered; };
  clean(given);
  std::filesystem::remove(given.output);
  const int moments = asked;
  EXPECT_GE(moments, 3);  // the one batch, the end of the input, the commit
  for (answered = 1; answered <= moments; ++answered) {
    asked = 0;
    EXPECT_EQ(test::message_of([&] { clean(given); }), "clean was stopped; nothing was written");
    EXPECT_FALSE(std::filesystem::exists(given.output));
  }
}

TEST_F(CleanTest, OptionsThatCannotBe) {
  CleanOptions given = options(line("x"));
  given.language = "xx";
  EXPECT_NE(test::message_of([&] { clean(given); }).find("--language xx"), std::string::npos);
  given.language = "en";
  given.inputs = {"-"};
  given.task_files = {folder_ / "in.jsonl"};
  EXPECT_NE(test::message_of([&] { clean(given); }), "");
}

}  // namespace clean_test
}  // namespace mpitron::corpus
