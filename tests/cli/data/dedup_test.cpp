#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/tiny_run.h"

// `dedup` as a user types it.

namespace mpitron::cli {
namespace dedup_test {

using namespace mpitron::test;

class Dedup : public ::testing::Test {
 protected:
  void SetUp() override { write_bytes(folder_ / "in.jsonl", first_ + other_ + again_ + first_); }
  Finished dedup(const std::string& input, const Words& more = {}) const {
    return run_program(folder_.path(),
                       Words{"dedup", "--input", input, "--output", "out.jsonl"} + more);
  }
  nlohmann::json report(const std::string& input, const Words& more = {}) const {
    const Finished finished = dedup(input, more + Words{"--json"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return nlohmann::json::parse(finished.out, nullptr, false);
  }
  std::string out() const { return read_file(folder_ / "out.jsonl"); }

  const TemporaryFolder folder_;
  const std::string first_ = "{\"text\": \"the same text, word for word\", \"n\": 1}\n";
  const std::string other_ = "{\"n\": 2,  \"text\": \"something entirely different\"}\n";
  const std::string again_ = "{\"text\": \"the same text, word for word\", \"n\": 3}\n";
};

TEST_F(Dedup, TheFirstOfEachGroupStaysAsItWasRead) {
  const auto found = report("in.jsonl", {"--groups", "groups.jsonl"});
  EXPECT_EQ(found.at("documents"), 4);
  EXPECT_EQ(found.at("removed"), 2);
  EXPECT_EQ(found.at("groups"), 1);
  EXPECT_EQ(out(), first_ + other_);
  EXPECT_EQ(read_file(folder_ / "groups.jsonl"), "{\"keep\": 0, \"remove\": [2, 3]}\n");
}

TEST_F(Dedup, TheReportNamesTheOutput) {
  const Finished finished = dedup("in.jsonl");
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "1 groups of duplicates, 2 documents left out"));
  EXPECT_TRUE(contains(finished.out, "wrote out.jsonl: 2 documents")) << finished.out;
}

TEST_F(Dedup, TheOutputDoesNotDependOnTheWorkersOrTheSeed) {
  for (const char* workers : {"1", "3"}) {
    EXPECT_EQ(report("in.jsonl", {"--workers", workers, "--seed", "7"}).at("removed"), 2);
    EXPECT_EQ(out(), first_ + other_);
  }
}

TEST_F(Dedup, ThresholdDecidesAboutSimilarTexts) {
  // 3 of 5 runs of three characters in common: "abc bcd cde" and one more each.
  write_bytes(folder_ / "near.txt", "abcdef\n\nabcdex\n");
  const Words bands = {"--shingle", "3", "--num-seeds", "100", "--num-bands", "100"};
  EXPECT_EQ(report("near.txt", bands + Words{"--jaccard-threshold", "0.6"}).at("removed"), 1);
  EXPECT_EQ(out(), "abcdef\n\n");
  EXPECT_EQ(report("near.txt", bands + Words{"--jaccard-threshold", "0.61"}).at("removed"), 0);
  EXPECT_EQ(out(), "abcdef\n\nabcdex\n\n");
}

TEST_F(Dedup, AnEmptyInputGivesAnEmptyOutput) {
  write_bytes(folder_ / "empty.jsonl", "");
  EXPECT_EQ(report("empty.jsonl").at("documents"), 0);
  EXPECT_EQ(out(), "");
}

TEST_F(Dedup, SaysWhatIsWrongAndWritesNothing) {
  const auto expect_refused = [&](const Finished& finished, int code, const std::string& part) {
    EXPECT_EQ(finished.code, code);
    EXPECT_TRUE(contains(finished.err, part)) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out.jsonl"));
  };
  for (const char* width : {"0", "33"}) {
    expect_refused(dedup("in.jsonl", {"--shingle", width}), 2, "allowed are 1 to 32 characters");
  }
  for (const char* threshold : {"0", "1.5"}) {
    expect_refused(dedup("in.jsonl", {"--jaccard-threshold", threshold}), 2,
                   "numbers above 0 up to 1");
  }
  expect_refused(dedup("in.jsonl", {"--num-bands", "7"}), 2, "must be a multiple of the bands");
  expect_refused(dedup("in.jsonl", {"--text-key", "body"}), 4,
                 "in.jsonl:1: document at byte 0: the object has no text under \"body\"");
  expect_refused(dedup("-"), 2, "reads documents twice");
  std::filesystem::rename(folder_ / "in.jsonl", folder_ / "in.jsonl.gz");
  expect_refused(dedup("in.jsonl.gz"), 2, "give plain files");
}

}  // namespace dedup_test
}  // namespace mpitron::cli
