#include <gtest/gtest.h>

#include "inference/cached_engine.h"
#include "inference/replay/replay_row.h"
#include "support/host_runtime.h"
#include "tests/inference/recorded_answers.h"

namespace mpitron::inference {
namespace model_replay_test {

void expect_pass(const std::vector<ReplayRow>& rows) {
  EXPECT_FALSE(rows.empty());
  for (const ReplayRow& row : rows) {
    EXPECT_TRUE(row.pass()) << row.of << " " << row.what << ": " << row.agreed << " of "
                            << row.cases << ", " << row.largest;
  }
}

TEST(ModelReplay, EveryRecordedModelAnswersAgain) {
  const std::filesystem::path folder = test::golden_folder() + "/generation";
  for (const std::string& name : test::generation_models()) {
    const test::GoldenModel golden(name, test::recorded_length(name));
    CachedEngine engine(*golden.device, golden.model, {.block_size = 16, .blocks = 40, .slots = 8},
                        golden.tokenizer->vocab_size());
    expect_pass(replay_model(engine, *golden.tokenizer, folder / "models" / name));
    if (name != "mla") {  // it was not recorded there
      expect_pass(replay_dynamic(engine, *golden.tokenizer, folder / "dynamic.json", name));
    }
  }
}

/// A row that could not fail would prove nothing.
TEST(ModelReplay, OtherWeightsFail) {
  if (!test::has_generation_models()) {
    GTEST_SKIP() << "no recorded models";
  }
  test::GoldenModel golden("llama", test::recorded_length("llama"));
  for (autograd::Parameter& parameter : golden.model.parameters()) {
    for (Index i = 0; i < parameter.value.numel(); ++i) {
      parameter.value.data<float>()[i] *= 1.01f;
    }
  }
  CachedEngine engine(*golden.device, golden.model, {.block_size = 16, .blocks = 40, .slots = 8},
                      golden.tokenizer->vocab_size());
  const std::filesystem::path folder = test::golden_folder() + "/generation/models/llama";
  for (const ReplayRow& row : replay_model(engine, *golden.tokenizer, folder)) {
    EXPECT_TRUE(!row.pass() || row.what == "greedy") << row.what;
  }
}

TEST(ModelReplay, RequestsToTheServerAgree) {
  const std::string file = test::golden_folder() + "/generation/api.json";
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << "no recorded requests";
  }
  const test::GoldenModel golden("llama", test::recorded_length("llama"));
  CachedEngine engine(*golden.device, golden.model, {.block_size = 16, .blocks = 40, .slots = 8},
                      golden.tokenizer->vocab_size());
  for (const ReplayRow& row : replay_api(engine, *golden.tokenizer, file)) {
    EXPECT_TRUE(row.pass()) << row.what << ": " << row.agreed << " of " << row.cases << ", "
                            << row.largest;
  }
}

}  // namespace model_replay_test
}  // namespace mpitron::inference
