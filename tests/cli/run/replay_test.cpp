#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/program.h"

namespace mpitron::cli {
namespace replay_test {

using namespace mpitron::test;
using nlohmann::json;

const char* const kCase = "gpt-rope-gqa";

class Replay : public ::testing::Test {
 protected:
  Finished run(const std::vector<std::string>& words) {
    std::vector<std::string> all = {"replay"};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(folder_.path(), all);
  }
  static std::string recorded() {
    return std::filesystem::absolute(golden_folder() + "/curves/" + kCase);
  }
  /// A copy of the case, cut to three iterations, whose JSON file `name` `change` alters.
  template <class Change>
  std::string altered(const std::string& name, Change&& change) {
    const std::string copy = folder_ / "copy";
    std::filesystem::copy(recorded(), copy);
    json losses = json::parse(read_file(copy + "/losses.json"));
    losses["iterations"].erase(losses["iterations"].begin() + 3, losses["iterations"].end());
    losses.erase("final_parameter_l2");  // the norms after the last recorded iteration
    write_bytes(copy + "/losses.json", losses.dump());
    json value = json::parse(read_file(copy + "/" + name));
    change(value);
    write_bytes(copy + "/" + name, value.dump());
    return copy;
  }

  const TemporaryFolder folder_;
};

TEST_F(Replay, PassesAndSpeaksJson) {
  const Finished finished = run({recorded(), "--json"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  const json result = json::parse(finished.out);
  EXPECT_EQ(result.at("case"), kCase);
  EXPECT_EQ(result.at("pass"), true);
  EXPECT_EQ(result.at("iterations"), 20);
  EXPECT_LT(result.at("max_rel_loss").get<double>(), 2e-5);
  EXPECT_LT(result.at("max_rel_grad_norm").get<double>(), 2e-4);
  EXPECT_LT(result.at("max_abs_logits").get<double>(), 1e-4);
}

TEST_F(Replay, PrintsATable) {
  const Finished finished = run({altered("losses.json", [](json&) {})});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "replay of gpt-rope-gqa: 3 iterations")) << finished.out;
  EXPECT_TRUE(finished.out.ends_with("PASS\n"));
}

TEST_F(Replay, TheFirstIterationsAlone) {
  const Finished finished = run({recorded(), "--iterations", "2"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "replay of gpt-rope-gqa: 2 iterations")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "the end   not reached")) << finished.out;
  EXPECT_EQ(run({recorded(), "--iterations", "0"}).code, 2);
}

TEST_F(Replay, ADifferentLossFails) {
  const std::string copy = altered("losses.json", [](json& losses) {
    json& loss = losses["iterations"][1]["lm_loss"];
    loss = loss.get<double>() * 1.0001;
  });
  const Finished finished = run({copy, "--json"});
  EXPECT_EQ(finished.code, 1) << finished.err;
  EXPECT_EQ(json::parse(finished.out).at("pass"), false);
}

TEST_F(Replay, ADifferentModelFails) {
  const std::string copy = altered("losses.json", [](json&) {});
  EXPECT_EQ(run({copy, "--norm-epsilon", "0.01"}).code, 1);
  // Weights that the flags have no place for are the data's mistake.
  const Finished finished = run({copy, "--num-layers", "3"});
  EXPECT_EQ(finished.code, 4);
  EXPECT_TRUE(contains(finished.err, "do not fit the model")) << finished.err;
}

TEST_F(Replay, RefusesOtherModels) {
  const std::string copy =
      altered("config.json", [](json& config) { config["model_type"] = "retro"; });
  const Finished finished = run({copy});
  EXPECT_EQ(finished.code, 2);
  EXPECT_TRUE(contains(finished.err, "one of gpt, bert, t5, mamba, vit, vlm, not 'retro'"))
      << finished.err;
}

TEST_F(Replay, NamesWhatIsMissing) {
  EXPECT_EQ(run({"absent"}).code, 4);
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"--json"}).code, 2);
  const std::string copy = altered("config.json", [](json& config) { config.erase("flags"); });
  const Finished finished = run({copy});
  EXPECT_EQ(finished.code, 4);
  EXPECT_TRUE(contains(finished.err, "'flags' is missing")) << finished.err;
  EXPECT_EQ(run({copy, "--device"}).code, 2);
}

}  // namespace replay_test
}  // namespace mpitron::cli
