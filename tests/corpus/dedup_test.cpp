#include "corpus/dedup.h"

#include <gtest/gtest.h>

#include "corpus/sample_texts.h"
#include "support/corpus.h"
#include "utils/system/files.h"

namespace mpitron::corpus {
namespace dedup_test {

class DedupTest : public ::testing::Test {
 protected:
  // 60 documents; 10..19 are those of 0..9 with one word changed, 20 is 0 as it is.
  DedupTest() {
    for (unsigned d = 0; d < 60; ++d) {
      std::string text = sample_text(d < 20 ? d % 10 : d == 20 ? 0 : d, 300);
      if (d >= 10 && d < 20) {
        text.replace(text.find(' ', 500), 1, " changed ");
      }
      lines_.push_back("{\"id\": " + std::to_string(d) + ", \"text\": \"" + text + "\"}\n");
    }
    std::string all;
    for (const std::string& line : lines_) {
      all += line;
    }
    test::write_bytes(folder_ / "in.jsonl", all);
  }
  DedupOptions options() const {
    DedupOptions options;
    options.inputs = {folder_ / "in.jsonl"};
    options.output = folder_ / "out.jsonl";
    options.groups = folder_ / "groups.jsonl";
    return options;
  }
  test::TemporaryFolder folder_;
  std::vector<std::string> lines_;
};

TEST_F(DedupTest, TheFirstOfEachGroupStays) {
  for (const int workers : {1, 3}) {
    DedupOptions given = options();
    given.workers = workers;
    const DedupReport report = dedup(given);
    EXPECT_EQ(report.documents, 60);
    EXPECT_EQ(report.removed, 11);
    EXPECT_EQ(report.groups, 10);
    EXPECT_LT(report.candidates, 100);
    std::string expected;
    for (std::size_t d = 0; d < 60; ++d) {
      expected += d < 10 || d > 20 ? lines_[d] : "";
    }
    EXPECT_EQ(read_file(given.output), expected);
    EXPECT_TRUE(read_file(given.groups).starts_with("{\"keep\": 0, \"remove\": [10, 20]}\n"));
  }
}

TEST_F(DedupTest, TheThresholdIsExact) {
  DedupOptions given = options();
  given.threshold = 1;
  EXPECT_EQ(dedup(given).removed, 1);  // only the copy
}

TEST_F(DedupTest, AStopAtAnyMomentLeavesNoFile) {
  DedupOptions given = options();
  int asked = 0;
  int answered = 1 << 20;
  given.stop = [&] { return ++asked == answered; };
  const Index buckets = dedup(given).groups;
  std::filesystem::remove(given.output);
  std::filesystem::remove(given.groups);
  const int moments = asked;
  EXPECT_GE(moments, buckets + 4);  // reading and its end, each bucket and their end, the commit
  for (answered = 1; answered <= moments; ++answered) {
    asked = 0;
    EXPECT_EQ(test::message_of([&] { dedup(given); }), "dedup was stopped; nothing was written");
    EXPECT_FALSE(std::filesystem::exists(given.output));
    EXPECT_FALSE(std::filesystem::exists(given.groups));
  }
}

TEST_F(DedupTest, RefusesWhatItCannotReadTwice) {
  const auto message = [](const DedupOptions& given) {
    return test::message_of([&] { dedup(given); });
  };
  DedupOptions given = options();
  given.inputs = {"-"};
  EXPECT_NE(message(given).find("reads documents twice"), std::string::npos);
  given = options();
  given.threshold = 0;
  EXPECT_NE(message(given).find("--jaccard-threshold 0"), std::string::npos);
  given = options();
  given.shingle = 0;
  EXPECT_NE(message(given).find("--shingle 0"), std::string::npos);
  given = options();
  given.output = given.inputs[0];
  EXPECT_NE(message(given).find("in.jsonl: is read as"), std::string::npos);
  given = options();
  given.groups = given.inputs[0];
  EXPECT_NE(message(given).find("--groups"), std::string::npos);
  given = options();
  given.groups = given.output;
  EXPECT_NE(message(given).find("is --output too"), std::string::npos);
  EXPECT_GT(std::filesystem::file_size(given.inputs[0]), 0U);
  given = options();
  given.text_key = "body";
  EXPECT_NE(message(given).find("in.jsonl:1: document at byte 0: the object has no text"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(given.output));
}

}  // namespace dedup_test
}  // namespace mpitron::corpus
