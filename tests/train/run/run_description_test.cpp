#include "train/run/run_description.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/corpus.h"
#include "train/mock_training.h"
#include "train/model/flops.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace run_description_test {

TEST(RunDescription, SaysWhatReadersOfMetricsNeed) {
  const test::TemporaryFolder folder;
  const config::RunConfig config = MockTraining::parse({"--train-iters", "7", "--save", "there"});
  const RunIdentity identity{
      .configuration = R"({"lr": 0.5, "seed": 1})", .build = "b", .given = R"({"lr": 0.5})"};
  write_run_description(folder / "new", config, identity);
  const auto json = nlohmann::json::parse(read_file(folder / "new/run.json"));
  EXPECT_EQ(json.at("world_size"), 1);
  EXPECT_EQ(json.at("layout").at("data"), 1);
  EXPECT_EQ(json.at("train_iters"), 7);
  EXPECT_EQ(json.at("seq_length"), 8);
  EXPECT_EQ(json.at("flops_per_sample"), flops_per_iteration(config.model, 1));
  EXPECT_EQ(json.at("given").size(), 1U);
  EXPECT_EQ(json.at("options").at("seed"), 1);
  EXPECT_EQ(json.at("save"), std::filesystem::absolute("there").string());
}

}  // namespace run_description_test
}  // namespace mpitron::train
