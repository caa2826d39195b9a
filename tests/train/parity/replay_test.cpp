#include "train/parity/replay.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/corpus.h"
#include "support/host_runtime.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace replay_test {

TEST(ReplayResult, PassesInsideEveryToleranceOnly) {
  ReplayResult result;
  EXPECT_TRUE(result.pass());
  for (double ReplayResult::*figure :
       {&ReplayResult::max_relative_loss, &ReplayResult::max_relative_grad_norm,
        &ReplayResult::max_absolute_logits}) {
    result.*figure = 1e-3;
    EXPECT_FALSE(result.pass());
    result.*figure = INFINITY;
    EXPECT_FALSE(result.pass());
    result.*figure = 1e-6;
    EXPECT_TRUE(result.pass());
  }
  result.iterations.resize(2);
  EXPECT_TRUE(result.pass());
  result.iterations[1].skip_differs = true;
  EXPECT_FALSE(result.pass());
}

TEST(ReplayTolerance, IsWiderInHalfPrecision) {
  config::ModelConfig model;
  const ReplayTolerance single = ReplayTolerance::of(model);
  for (const DType type : {DType::bf16, DType::f16}) {
    model.params_dtype = type;
    const ReplayTolerance half = ReplayTolerance::of(model);
    EXPECT_GT(half.loss, single.loss);
    EXPECT_GT(half.grad_norm, single.grad_norm);
    EXPECT_GT(half.logits, single.logits);
    EXPECT_EQ(half.layer_losses, half.loss);  // those of a depth of multi-token prediction
  }
}

/// A recorded case cut to its first iterations.
class Replay : public ::testing::Test {
 protected:
  Replay() {
    std::filesystem::copy(test::golden_folder() + "/curves/gpt-rope-gqa", folder_ / "copy");
    auto losses = nlohmann::json::parse(read_file(folder_ / "copy/losses.json"));
    auto& rows = losses["iterations"];
    rows.erase(rows.begin() + 3, rows.end());
    losses.erase("final_parameter_l2");  // of a later end
    test::write_bytes(folder_ / "copy/losses.json", losses.dump());
  }
  ReplayResult run(const char* device_name, const std::vector<std::string>& flags) {
    RecordedCase recorded(folder_ / "copy");
    const auto device = device::make_device(device_name);
    return replay(*device, *comm::make_single_world(), recorded, flags);
  }
  const test::TemporaryFolder folder_;
};

TEST_F(Replay, BothDevicesFollowTheRecording) {
  for (const char* device : {"host", "reference"}) {
    const ReplayResult result = run(device, {});
    EXPECT_TRUE(result.pass()) << device;
    ASSERT_EQ(result.iterations.size(), 3U);
    EXPECT_GT(result.iterations[0].grad_norm, 0);
    EXPECT_NE(result.iterations[0].loss, result.iterations[2].loss);
  }
}

TEST_F(Replay, TheMicrobatchSizeDoesNotMatterButTheModelDoes) {
  EXPECT_TRUE(run("host", {"--micro-batch-size", "4"}).pass());
  EXPECT_FALSE(run("host", {"--rotary-base", "500"}).pass());
  // The first update has a rate of zero, so the third loss is the first to tell.
  EXPECT_FALSE(run("host", {"--lr", "0.02", "--min-lr", "0.02"}).pass());
}

TEST_F(Replay, ParametersEndWithTheRecordedNorms) {
  auto losses = nlohmann::json::parse(read_file(folder_ / "copy/losses.json"));
  losses["final_parameter_l2"]["decoder.final_layernorm.weight"] = 1e3;
  test::write_bytes(folder_ / "copy/losses.json", losses.dump());
  const ReplayResult result = run("host", {});
  EXPECT_FALSE(result.pass());
  EXPECT_GT(result.max_relative_norm, 0.9);
}

}  // namespace replay_test

}  // namespace mpitron::train
