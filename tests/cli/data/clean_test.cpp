#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/tiny_run.h"

// `clean` as a user types it: each filter leaves out what it should.

namespace mpitron::cli {
namespace clean_test {

using namespace mpitron::test;

class Clean : public ::testing::Test {
 protected:
  /// To out.jsonl; with no filter of language and length unless they are given.
  struct Filters {
    std::string language = "any";
    std::string min_tokens = "0";
  };
  Finished clean(const std::string& input, const Words& more, const Filters& filters) const {
    return run_program(folder_.path(),
                       Words{"clean", "--input", input, "--output", "out.jsonl", "--language",
                             filters.language, "--min-tokens", filters.min_tokens} +
                           more);
  }
  Finished clean(const std::string& input, const Words& more = {}) const {
    return clean(input, more, Filters());
  }
  nlohmann::json report(const std::string& input, const Words& more, const Filters& filters) const {
    const Finished finished = clean(input, more + Words{"--json"}, filters);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return nlohmann::json::parse(finished.out, nullptr, false);
  }
  nlohmann::json report(const std::string& input, const Words& more = {}) const {
    return report(input, more, Filters());
  }
  void expect_refused(const Finished& finished, int code, const std::string& part) const {
    EXPECT_EQ(finished.code, code);
    EXPECT_TRUE(contains(finished.err, part)) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out.jsonl"));
  }
  std::string out() const { return read_file(folder_ / "out.jsonl"); }
  void write_addresses() const {
    write_bytes(folder_ / "in.jsonl",
                "{\"text\": \"one two three\", \"url\": \"https://example.com/a\"}\n"
                "{\"text\": \"four five six\", \"url\": \"https://www.imgur.com/a\"}\n"
                "{\"text\": \"seven\", \"url\": \"x\"}\n"
                "{\"text\": \"eight\", \"url\": \"https://example.com/a.pdf\"}\n"
                "{\"text\": \"nine\", \"url\": \"https://example.org/b\"}\n"
                "{\"text\": \"ten\", \"url\": \"no address\"}\n");
  }
  const TemporaryFolder folder_;
};

TEST_F(Clean, DropsBadAddresses) {
  write_addresses();
  const auto found = report("in.jsonl");
  EXPECT_EQ(found.at("documents"), 6);
  EXPECT_EQ(found.at("kept"), 2);
  for (const char* fate : {"url_domain", "url_too_short", "url_extension", "url_malformed"}) {
    EXPECT_EQ(found.at(fate), 1) << fate;
  }
  EXPECT_EQ(out(),
            "{\"text\": \"one two three\", \"url\": \"https://example.com/a\"}\n"
            "{\"text\": \"nine\", \"url\": \"https://example.org/b\"}\n");
  EXPECT_EQ(report("in.jsonl", {"--blacklist-domains", "example.org"}).at("url_domain"), 2);
  EXPECT_EQ(report("in.jsonl", {"--no-url-filter"}).at("kept"), 6);
  EXPECT_EQ(report("in.jsonl", {"--url-key", "address"}).at("kept"), 6);
}

TEST_F(Clean, DropsShortTextsAndOtherLanguages) {
  write_addresses();
  const auto found = report("in.jsonl", {"--no-url-filter"}, {.min_tokens = "3"});
  EXPECT_EQ(found.at("kept"), 2);
  EXPECT_EQ(found.at("too_short"), 4);
  write_bytes(folder_ / "de.jsonl",
              "{\"text\": \"Das ist nicht der Hund, und die Katze ist auch nicht im Haus.\"}\n");
  EXPECT_EQ(report("de.jsonl", {}, {.language = "en"}).at("language"), 1);
  EXPECT_EQ(report("de.jsonl", {}, {.language = "de"}).at("kept"), 1);
}

TEST_F(Clean, RepairsTextsUnlessToldOtherwise) {
  const std::string line = "{\"text\": \"the caf\u00c3\u00a9 is open\"}\n";
  write_bytes(folder_ / "in.jsonl", line);
  EXPECT_EQ(report("in.jsonl").at("fixed"), 1);
  EXPECT_EQ(nlohmann::json::parse(out()).at("text"), "the caf\u00e9 is open");
  EXPECT_EQ(report("in.jsonl", {"--no-text-fixes"}).at("fixed"), 0);
  EXPECT_EQ(out(), line);
}

TEST_F(Clean, PlainTextBecomesNumberedObjects) {
  write_bytes(folder_ / "in.txt", "first paragraph\n\nsecond\n");
  EXPECT_EQ(report("in.txt", {"--add-id", "p"}).at("written"), 2);
  EXPECT_EQ(out(),
            "{\"id\": \"p-0000000001\", \"text\": \"first paragraph\"}\n"
            "{\"id\": \"p-0000000002\", \"text\": \"second\"}\n");
}

TEST_F(Clean, CutsOutTasks) {
  const std::string task =
      "one two three four five six seven eight nine ten eleven twelve thirteen";
  write_bytes(folder_ / "task.txt", task + "\n");
  write_bytes(folder_ / "in.jsonl", "{\"text\": \"Alpha beta gamma. " + task +
                                        ". Omega psi chi.\"}\n{\"text\": \"" + task +
                                        "\"}\n{\"text\": \"untouched\"}\n");
  const auto found = report("in.jsonl", {"--task-file", "task.txt", "--remove-char-each-side", "0",
                                         "--filter-text-char-len", "3"});
  EXPECT_EQ(found.at("contaminated"), 1);
  EXPECT_EQ(found.at("split"), 1);
  EXPECT_EQ(found.at("written"), 3);
  EXPECT_FALSE(contains(out(), "seven")) << out();
  for (const char* left : {"Alpha beta gamma.", "Omega psi chi.", "untouched"}) {
    EXPECT_TRUE(contains(out(), left)) << out();
  }
}

TEST_F(Clean, SaysWhatIsWrongAndWritesNothing) {
  write_bytes(folder_ / "bad.jsonl", "{\"text\": \"a\"}\nnot json\n{\"x\": 1}\n");
  expect_refused(clean("bad.jsonl"), 4, "bad.jsonl:2: document at byte 14: not valid JSON");
  expect_refused(clean("bad.jsonl", {}, {.language = "xx"}), 2, "--language xx: known are en");
  expect_refused(clean("bad.jsonl", {"--workers", "0"}), 2, "allowed are 1 to 1024");
  write_bytes(folder_ / "task.txt", "a few words\n");
  expect_refused(clean("bad.jsonl", {"--task-file", "task.txt"}), 4, "no text has 8 words or more");
  expect_refused(clean("-", {"--task-file", "task.txt"}), 2, "the input is read twice");
  const Finished skipped = clean("bad.jsonl", {"--skip-bad-lines"});
  EXPECT_EQ(skipped.code, 0);
  EXPECT_TRUE(contains(skipped.err, "no text under \"text\"")) << skipped.err;
  EXPECT_EQ(out(), "{\"text\": \"a\"}\n");
}

}  // namespace clean_test
}  // namespace mpitron::cli
