#include <fstream>

#include <nlohmann/json.hpp>

#include "cli/command_test.h"

namespace mpitron::cli {
namespace generate_test {

using namespace mpitron::test;

class GenerateTest : public CommandTest {
 protected:
  GenerateTest() {
    EXPECT_EQ(run(kTinyMock + kSixteenPositions + Words{"--save", "saved"}).code, 0);
  }
  Words generate(const Words& more) const {
    return Words{"generate",      "--load",       "saved", "--tokenizer-type",
                 "NullTokenizer", "--vocab-size", "63"} +
           more;
  }
};

TEST_F(GenerateTest, AnswersInAnyBatchAreTheSame) {
  const Words drawn = {"--top-k", "0", "--num-tokens-to-generate", "6"};
  const Finished alone = run(generate(Words{"--prompts", "1 2 3"} + drawn));
  EXPECT_EQ(alone.code, 0) << alone.err;
  const Finished together = run(generate(
      Words{"--prompts", "1 2 3", "4 5", "--output-path", "out.jsonl", "--return-log-probs"} +
      drawn));
  EXPECT_EQ(together.code, 0) << together.err;
  EXPECT_TRUE(together.out.starts_with(alone.out.substr(0, alone.out.find('\n') + 1)))
      << together.out;
  const std::string file = read_file(folder_.path() / "out.jsonl");
  EXPECT_EQ(std::ranges::count(file, '\n'), 2);
  EXPECT_TRUE(contains(file, "\"generated_log_probs\": [-"));
  const Finished other = run(generate(Words{"--prompts", "1 2 3", "--seed", "7"} + drawn));
  EXPECT_NE(other.out, alone.out);
}

/// Types of the cache that are not the model's move log-probabilities, if only a little.
TEST_F(GenerateTest, KeepsKeysAndValuesInAnyType) {
  const Words prompt = {"--prompts", "1 2 3 4 5 6", "--num-tokens-to-generate", "0", "--json"};
  const auto perplexity = [&](const std::string& type) {
    const Finished end = run(generate(prompt + Words{"--kv-cache-dtype", type}));
    EXPECT_EQ(end.code, 0) << end.err;
    const auto line = nlohmann::json::parse(end.out.substr(end.out.rfind('{')));
    return line.at("perplexity").get<double>();
  };
  const double own = perplexity("auto");
  for (const char* type : {"bf16", "fp8_e4m3"}) {
    EXPECT_NE(perplexity(type), own) << type;
    EXPECT_NEAR(perplexity(type) / own, 1, 5e-3) << type;
  }
  expect_refused(generate({"--prompts", "1", "--kv-cache-dtype", "fp8_e4m"}), 2,
                 "--kv-cache-dtype: fp8_e4m is none of auto, bf16, fp8_e4m3; did you mean "
                 "fp8_e4m3?");
  expect_refused(generate({"--prompts", "1", "--mamba-inference-ssm-states-dtype", "bf16"}), 2,
                 "--mamba-inference-ssm-states-dtype bf16: no layer of the model carries a state; "
                 "leave it out");
}

TEST_F(GenerateTest, TellsItsRateInPlaceOfTexts) {
  const Finished end = run(generate(
      {"--prompts", "1 2 3", "4 5", "--top-k", "0", "--num-tokens-to-generate", "6", "--json"}));
  EXPECT_EQ(end.code, 0) << end.err;
  const auto line = nlohmann::json::parse(end.out.substr(end.out.rfind('{')));
  EXPECT_EQ(line.at("answers"), 2);
  EXPECT_EQ(line.at("prompt_tokens"), 5);
  EXPECT_EQ(line.at("generated_tokens"), 12);
  EXPECT_GT(line.at("seconds").get<double>(), 0);
  EXPECT_NEAR(line.at("tokens_per_second").get<double>() * line.at("seconds").get<double>(), 12,
              0.1);
  EXPECT_FALSE(contains(end.out, "1 2 3"));
  const Finished scored =
      run(generate({"--prompts", "1 2 3 4", "--num-tokens-to-generate", "0", "--json"}));
  const auto scores = nlohmann::json::parse(scored.out.substr(scored.out.rfind('{')));
  EXPECT_GT(scores.at("perplexity").get<double>(), 1) << scored.out;
}

TEST_F(GenerateTest, TakesTheTokenizerThatTheModelWasTrainedWith) {
  const Words six = {"--prompts", "1 2", "--num-tokens-to-generate", "6"};
  const Finished bare = run(Words{"generate", "--load", "saved"} + six);
  EXPECT_EQ(bare.code, 0) << bare.err;
  EXPECT_EQ(bare.out, run(generate(six)).out);
}

TEST_F(GenerateTest, RefusesWhatCannotBe) {
  expect_refused(generate({}), 2, "--prompts");
  expect_refused(generate({"--prompts", "1", "--top-k", "3", "--top-p", "0.5"}), 2,
                 "Cannot have top-p and top-k both greater than zero");
  expect_refused(generate({"--prompts", "1 2 3", "--num-tokens-to-generate", "14"}), 2,
                 "--prompts 1: a sequence of 17 tokens was asked for; one has 1 to 16");
  std::ofstream(folder_.path() / "long.jsonl") << "{\"text\": \"1\"}\n{\"text\": \"1 2 3\"}\n";
  expect_refused(generate({"--prompt-file", "long.jsonl", "--num-tokens-to-generate", "14"}), 2,
                 "long.jsonl:2: a sequence of 17 tokens was asked for; one has 1 to 16");
  expect_refused(generate({"--prompts", "1", "--inference-dynamic-batching-block-size", "12"}), 2,
                 "powers of two");
  expect_refused(generate({"--prompts", "1", "--device", "cuda"}), 3, "--device cuda: ");
  expect_refused(generate({"--prompt-file", "absent"}), 4, "--prompt-file absent");
  expect_refused({"generate", "--load", "saved", "--prompts", "1", "--tokenizer-type",
                  "NullTokenizer", "--vocab-size", "5000"},
                 2, "choose its own tokenizer");
}

}  // namespace generate_test
}  // namespace mpitron::cli
