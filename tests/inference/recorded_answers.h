#pragma once
#include <filesystem>

#include "inference/scheduling/generator.h"
#include "tests/inference/golden_model.h"

namespace mpitron::test {

/// Names of all recorded models.
inline std::vector<std::string> generation_models() {
  std::vector<std::string> names;
  if (has_generation_models()) {
    for (const auto& entry :
         std::filesystem::directory_iterator(golden_folder() + "/generation/models")) {
      names.push_back(entry.path().filename().string());
    }
  }
  return names;
}

inline Index recorded_length(const std::string& name) {
  return golden_json("generation/models/" + name + "/config.json").at("dims").at("seq");
}

inline void expect_near(const std::vector<inference::TokenLogProbs>& got,
                        const nlohmann::json& expected) {
  ASSERT_EQ(got.size() >= expected.size(), true);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(got[i].token.value, expected.at(i).get<double>(), 2e-5) << i;
  }
}

/// Greedy answers with all values.
inline std::vector<inference::GenerationRequest> greedy_requests(const nlohmann::json& greedy,
                                                                 inference::TokenId eod) {
  std::vector<inference::GenerationRequest> requests;
  for (const nlohmann::json& each : greedy) {
    requests.push_back({.prompt = each.at("prompt_ids").get<inference::TokenIds>(),
                        .max_tokens = 40,
                        .sampling = {.top_k = 1},
                        .stop_ids = {eod},
                        .log_probs = 5,
                        .prompt_log_probs = true});
  }
  return requests;
}

/// Whether the engine answers a model's `greedy` prompts as recorded, all in one batch.
inline void expect_greedy(inference::Engine& engine, const tokenizers::Tokenizer& tokenizer,
                          const std::string& model) {
  const nlohmann::json greedy =
      golden_json("generation/models/" + model + "/generation.json").at("greedy");
  inference::Generator generator(engine, tokenizer, {});
  const auto answers = generator.run(greedy_requests(greedy, tokenizer.eod()));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto expected = greedy.at(i).at("generated_ids").get<inference::TokenIds>();
    EXPECT_EQ(answers[i].finish == inference::FinishReason::stop, expected.size() < 40);
    if (answers[i].finish == inference::FinishReason::stop) {
      expected.push_back(tokenizer.eod());
    }
    EXPECT_EQ(answers[i].tokens, expected);
    EXPECT_EQ(answers[i].text, greedy.at(i).at("generated_text").get<std::string>());
    expect_near(answers[i].prompt_log_probs, greedy.at(i).at("prompt_log_probs"));
    expect_near(answers[i].log_probs, greedy.at(i).at("generated_log_probs"));
  }
}

}  // namespace mpitron::test
