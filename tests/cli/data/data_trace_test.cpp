#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/tiny_run.h"
#include "io/tokens/token_file.h"

namespace mpitron::cli {
namespace data_trace_test {

using namespace mpitron::test;
using nlohmann::json;

/// Two of the reference's corpora, of a vocabulary of 1000.
Words words(const Words& command, const Words& more) {
  const std::string folder = golden_folder() + "/dataset/";
  Words flags(kTinyModel.begin() + 1, kTinyModel.end() - 2);
  return command + flags +
         Words{"--vocab-size", "999",     "--data-path", "0.7",           folder + "a", "0.3",
               folder + "b",   "--split", "8,1,1",       "--train-iters", "10"} +
         more;
}

json run_json(const TemporaryFolder& folder, const Words& command) {
  const Finished finished = run_program(folder.path(), command + Words{"--json"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  return json::parse(finished.out, nullptr, false);
}

class DataTrace : public ::testing::Test {
 protected:
  DataTrace() : cache_{"--data-cache-path", folder_ / "cache"} {}
  json trace(const Words& more) const {
    return run_json(folder_, words({"data", "trace"}, cache_ + more));
  }

  TemporaryFolder folder_;
  Words cache_;
};

TEST_F(DataTrace, NamesTheBytesOfAnIteration) {
  const json traced = trace({"--iteration", "3"});
  ASSERT_EQ(traced.at("samples").size(), 4U);
  for (const json& sample : traced.at("samples")) {
    EXPECT_EQ(sample.at("iteration"), 3);
    Index tokens = 0;
    for (const json& piece : sample.at("pieces")) {
      const io::TokenFile corpus(piece.at("corpus").get<std::string>());
      const Index sequence = piece.at("sequence"), first = piece.at("first_token");
      const Index width = static_cast<Index>(io::size_of(corpus.type()));
      EXPECT_EQ(piece.at("first_byte"), corpus.byte_position(sequence) + first * width);
      EXPECT_EQ(piece.at("bytes"), piece.at("tokens").get<Index>() * width);
      const Index document = piece.at("document");
      EXPECT_LE(corpus.document_begin(document), sequence);
      EXPECT_LT(sequence, corpus.document_begin(document + 1));
      tokens += piece.at("tokens").get<Index>();
    }
    EXPECT_EQ(tokens, 17);  // one more than the sequence length: the last label
  }
}

TEST_F(DataTrace, FindsEveryIterationThatReadsADocument) {
  std::map<std::pair<std::string, Index>, std::set<Index>> iterations;
  for (Index i = 1; i <= 10; ++i) {
    const json traced = trace({"--iteration", std::to_string(i)});
    for (const json& sample : traced.at("samples")) {
      for (const json& piece : sample.at("pieces")) {
        iterations[{piece.at("corpus"), piece.at("document")}].insert(i);
      }
    }
  }
  ASSERT_GT(iterations.size(), 5U);
  int checked = 0;
  for (const auto& [document, expected] : iterations) {
    if (checked++ % 4 != 0) {
      continue;
    }
    const json found =
        trace({"--document", document.first + ":" + std::to_string(document.second)});
    std::set<Index> seen;
    for (const json& use : found.at("uses")) {
      seen.insert(use.at("iteration").get<Index>());
    }
    EXPECT_EQ(seen, expected) << document.first << document.second;
  }
}

TEST_F(DataTrace, SaysWhatIsWrong) {
  const auto refused = [&](const Words& more) {
    const Finished finished = run_program(folder_.path(), words({"data", "trace"}, cache_ + more));
    EXPECT_EQ(finished.code, 2) << finished.out;
    return finished.err;
  };
  EXPECT_TRUE(contains(refused({}), "--iteration K"));
  EXPECT_TRUE(contains(refused({"--iteration", "11"}), "iterations 1 to 10"));
  EXPECT_TRUE(contains(refused({"--iteration", "1", "--rank", "9"}), "of the run are 0 to "));
  EXPECT_TRUE(contains(refused({"--document", "b"}), "PREFIX:N"));
  EXPECT_TRUE(contains(refused({"--document", "other:1"}), "no corpus of that name"));
  EXPECT_TRUE(contains(refused({"--document", golden_folder() + "/dataset/a:9999"}),
                       "has the documents 0 to"));
}

}  // namespace data_trace_test
}  // namespace mpitron::cli
