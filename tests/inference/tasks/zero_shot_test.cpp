#include "inference/tasks/zero_shot.h"

#include <algorithm>
#include <array>

#include "inference/golden_model.h"
#include "support/host_runtime.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace zero_shot_test {

std::string task_file(const std::string& name) {
  return test::golden_folder() + "/generation/tasks/" + name;
}

TEST(OverlappingWindows, EveryTargetCountsOnce) {
  for (const auto& [n, length, stride] :
       {std::array<Index, 3>{50, 8, 8}, {50, 8, 3}, {7, 8, 8}, {2, 8, 1}, {41, 8, 8}}) {
    tokenizers::TokenIds tokens;
    for (Index i = 0; i < n; ++i) {
      tokens.push_back(static_cast<tokenizers::TokenId>(i));
    }
    std::vector<int> counted(tokens.size());
    for (const TextWindow& window : overlapping_windows(tokens, length, stride).windows) {
      ASSERT_LE(window.tokens.size(), static_cast<std::size_t>(length) + 1);
      for (std::size_t i = window.first_scored; i < window.tokens.size(); ++i) {
        ++counted[static_cast<std::size_t>(window.tokens[i])];
      }
    }
    EXPECT_EQ(counted[0], 0);
    EXPECT_EQ(std::count(counted.begin(), counted.end(), 1), n - 1) << n << ' ' << stride;
  }
}

TEST(ZeroShot, PerplexitiesAreTheRecordedOnes) {
  if (!test::has_generation_models()) {
    GTEST_SKIP() << "generation/models is not in MPITRON_GOLDEN_DIR";
  }
  const nlohmann::json all = test::golden_json("generation/tasks/results.json").at("wikitext");
  ASSERT_GE(all.size(), 4u);
  for (const auto& recorded : all) {
    SCOPED_TRACE(recorded.dump());
    const Index length = recorded.at("seq_length");
    const test::GoldenModel golden(recorded.at("model"), length);
    const WindowScorer scorer(*golden.device, golden.model, golden.tokenizer->eod(),
                              recorded.at("batch"));
    const PerplexityResult result =
        perplexity(scorer, *golden.tokenizer, task_file(recorded.at("file")), length,
                   recorded.at("overlapping_eval"));
    EXPECT_EQ(result.windows, recorded.at("windows").get<Index>());
    EXPECT_EQ(result.words, recorded.at("original_words").get<Index>());
    EXPECT_EQ(result.tokens, recorded.at("tokens").get<Index>());
    EXPECT_EQ(result.targets, recorded.at("scored_targets").get<Index>());
    const double loss = recorded.at("loss_sum");
    EXPECT_NEAR(result.loss, loss, 1e-5 * loss);
    const double adjusted = recorded.at("adjusted_ppl");
    EXPECT_NEAR(result.adjusted_perplexity(), adjusted, 1e-4 * adjusted);
    EXPECT_NEAR(result.perplexity(), recorded.at("ppl").get<double>(), 1e-2);
    EXPECT_NEAR(result.token_ratio(), recorded.at("token_ratio").get<double>(), 1e-7);
  }
}

TEST(ZeroShot, CompletionsAreTheRecordedOnes) {
  if (!test::has_generation_models()) {
    GTEST_SKIP() << "generation/models is not in MPITRON_GOLDEN_DIR";
  }
  const nlohmann::json all = test::golden_json("generation/tasks/results.json").at("lambada");
  ASSERT_GE(all.size(), 4u);
  for (const auto& recorded : all) {
    const std::string name = recorded.at("model");
    const bool strict = recorded.at("strict");
    SCOPED_TRACE(name + (strict ? " strict" : " plain"));
    const Index length = recorded.at("seq_length");
    const test::GoldenModel golden(name, length);
    for (const Index batch_size : {1, 7}) {
      const WindowScorer scorer(*golden.device, golden.model, golden.tokenizer->eod(), batch_size);
      const CompletionResult result = completion_accuracy(
          scorer, *golden.tokenizer, task_file("lambada.jsonl"), length, strict);
      const auto expected = recorded.at("per_example").get<std::vector<int>>();
      EXPECT_EQ(std::vector<int>(result.correct.begin(), result.correct.end()), expected);
      EXPECT_EQ(result.cut, 0);
    }
  }
}

TEST(ZeroShot, LongExamplesKeepTheirEnd) {
  if (!test::has_generation_models()) {
    GTEST_SKIP() << "generation/models is not in MPITRON_GOLDEN_DIR";
  }
  const test::GoldenModel golden("llama", 16);
  const WindowScorer scorer(*golden.device, golden.model, golden.tokenizer->eod(), 4);
  const CompletionResult result =
      completion_accuracy(scorer, *golden.tokenizer, task_file("lambada.jsonl"), 16, true);
  EXPECT_EQ(result.correct.size(), 40u);
  EXPECT_GT(result.cut, 0);
  const test::GoldenModel whole("llama", 96);
  const WindowScorer whole_scorer(*whole.device, whole.model, whole.tokenizer->eod(), 4);
  EXPECT_EQ(
      completion_accuracy(whole_scorer, *whole.tokenizer, task_file("lambada.jsonl"), 96, true).cut,
      0);
}

}  // namespace zero_shot_test
}  // namespace mpitron::inference
