#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/tiny_run.h"
#include "io/tokens/token_file.h"

namespace mpitron::cli {
namespace data_report_test {

using namespace mpitron::test;
using nlohmann::json;

Words report(const Words& data, const Words& more = {}) {
  Words flags(kTinyModel.begin() + 1, kTinyModel.end() - 2);
  return Words{"data", "report"} + flags + Words{"--vocab-size", "999", "--train-iters", "10"} +
         data + more;
}

json run_json(const Words& words) {
  const TemporaryFolder folder;
  const Finished finished =
      run_program(folder.path(), words + Words{"--json", "--data-cache-path", folder / "cache"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  return json::parse(finished.out, nullptr, false);
}

std::string corpus(const std::string& name) {
  return golden_folder() + "/dataset/" + name;
}

TEST(DataReport, CountsSamplesTokensAndEpochs) {
  const json found =
      run_json(report({"--data-path", "0.7", corpus("a"), "0.3", corpus("b"), "--split", "8,1,1"}));
  const json& train = found.at("splits").at("train");
  EXPECT_EQ(train.at("samples"), 40);  // 10 iterations of 4
  ASSERT_EQ(train.at("corpora").size(), 2U);
  EXPECT_EQ(train.at("corpora")[0].at("samples"), 28);
  EXPECT_EQ(train.at("corpora")[1].at("samples"), 12);
  for (const json& share : train.at("corpora")) {
    const io::TokenFile file(share.at("corpus").get<std::string>());
    Index tokens = 0;
    for (Index i = 0; i < share.at("sequences").get<Index>(); ++i) {  // training comes first
      tokens += file.length(i);
    }
    EXPECT_EQ(share.at("tokens_per_epoch"), tokens);
    EXPECT_EQ(share.at("tokens"), share.at("samples").get<Index>() * 16);
    EXPECT_NEAR(share.at("epochs").get<double>(),
                share.at("tokens").get<double>() / static_cast<double>(tokens), 1e-6);
  }
}

TEST(DataReport, PrintsATable) {
  const TemporaryFolder folder;
  const Finished finished =
      run_program(folder.path(), report({"--data-path", corpus("a"), "--split", "8,1,1",
                                         "--data-cache-path", folder / "cache"}));
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "train: 40 samples, 640 tokens")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "100.00%")) << finished.out;
}

TEST(DataReport, KnowsTheSamplesOfBertAndT5) {
  const Words data{"--data-path", corpus("s"), "--split", "100,0,0", "--eval-iters", "0"};
  const json bert = run_json(report(data, {"--dataset", "bert", "--short-seq-prob", "0"}));
  const json& train = bert.at("splits").at("train");
  EXPECT_EQ(train.at("samples"), 40);
  EXPECT_GE(train.at("corpora")[0].at("indexed_samples"), 40);
  EXPECT_LE(train.at("corpora")[0].at("tokens"), 40 * 13);  // 16 without CLS, SEP and SEP
  const json t5 = run_json(report(data, {"--dataset", "t5", "--decoder-seq-length", "8"}));
  EXPECT_EQ(t5.at("splits").at("train").at("samples"), 40);
  const TemporaryFolder folder;
  const Finished refused = run_program(folder.path(), report(data, {"--dataset", "vision"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "allowed are gpt, bert and t5"));
}

}  // namespace data_report_test
}  // namespace mpitron::cli
