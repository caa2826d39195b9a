#include "inference/text_generator.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "models/gpt/gpt_model.h"
#include "support/host_runtime.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace text_generator_test {

TEST(SampleToken, FollowsTheSoftmax) {
  const std::vector<float> logits = {1.0f, 2.0f, -1.0f, 0.0f};
  constexpr int kDraws = 10000;
  for (const double temperature : {0.5, 1.0, 2.0}) {
    std::array<double, 4> expected{};
    double total = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      total += expected[i] = std::exp(static_cast<double>(logits[i]) / temperature);
    }
    std::array<int, 4> drawn{};
    for (int i = 0; i < kDraws; ++i) {  // evenly spaced numbers: exact up to one draw per border
      ++drawn[static_cast<std::size_t>(sample_token(logits, temperature, (i + 0.5) / kDraws))];
    }
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(drawn[i], kDraws * expected[i] / total, 1.5) << temperature << ' ' << i;
    }
  }
}

TEST(SampleToken, TemperatureZeroTakesTheLikeliest) {
  for (const double uniform : {0.0, 0.5, 0.999999}) {
    EXPECT_EQ(sample_token({0.0f, 3.0f, 2.9f}, 0, uniform), 1);
  }
}

TEST(SampleToken, LargeLogitsDoNotOverflowAndImpossibleTokensAreNeverDrawn) {
  for (const double uniform : {0.0, 0.4, 0.9999999}) {
    EXPECT_EQ(sample_token({-INFINITY, 2000.0f, 900.0f}, 1.0, uniform), 1);
  }
}

/// A model and its tokenizer of 15 ids.
struct Tiny {
  Tiny() : model(config(), *device) { model.initialize(); }
  static config::ModelConfig config() {
    config::ModelConfig model =
        config::parse_run_config({"--num-layers", "1", "--hidden-size", "16",
                                  "--num-attention-heads", "2", "--seq-length", "8",
                                  "--max-position-embeddings", "8", "--micro-batch-size", "1",
                                  "--train-iters", "1", "--lr", "1e-3", "--mock-data"})
            .model;
    model.padded_vocab_size = 32;
    return model;
  }
  std::string generate(const std::string& prompt, const SamplingSettings& settings) {
    return TextGenerator(*device, model, tokenizer).generate(prompt, settings);
  }
  std::unique_ptr<device::Device> device = device::make_device("host");
  tokenizers::NullTokenizer tokenizer{15};
  models::GptModel model;
};

TEST(TextGenerator, ContinuesThePromptTheSameWayForASeed) {
  Tiny tiny;
  const std::string text = tiny.generate("1 2 3", {.tokens = 20, .seed = 1});
  EXPECT_TRUE(text.starts_with("1 2 3")) << text;
  EXPECT_EQ(tiny.generate("1 2 3", {.tokens = 20, .seed = 1}), text);
  EXPECT_NE(tiny.generate("1 2 3", {.tokens = 20, .seed = 2}), text);
  for (const tokenizers::TokenId id : tiny.tokenizer.encode(text)) {
    EXPECT_LT(id, 15);  // neither eod nor a padded row of the vocabulary
  }
}

TEST(TextGenerator, TokensThatNobodyLooksAtChangeNothing) {
  Tiny tiny;
  const SamplingSettings settings{.tokens = 12, .seed = 1};
  const std::string text = tiny.generate("1 2 3", settings);
  for (const std::size_t step : {2, 3, 64}) {
    const TextGenerator generator(*tiny.device, tiny.model, tiny.tokenizer, step);
    EXPECT_EQ(generator.generate("1 2 3", settings), text) << step;
  }
}

TEST(TextGenerator, AddsNoMoreThanAsked) {
  Tiny tiny;
  EXPECT_EQ(tiny.generate("4 5", {.tokens = 0}), "4 5");
  EXPECT_EQ(tiny.generate("", {.tokens = 0}), "");
  const auto ids = tiny.tokenizer.encode(tiny.generate("4 5", {.tokens = 12}));
  EXPECT_LE(ids.size(), 14U);  // longer than the window of 8: it slides
}

TEST(TextGenerator, WritesWhatTheWeightsSay) {
  // With the position embedding zeroed and the layers' output added, the tied output matrix favours
  // the token itself when its embedding is large: a large row wins at temperature 0.
  Tiny tiny;
  for (autograd::Parameter& parameter : tiny.model.parameters()) {
    if (parameter.name.find("word_embeddings") != std::string::npos) {
      float* values = parameter.value.data<float>();
      for (Index i = 0; i < parameter.value.numel(); ++i) {
        values[i] = i / 16 == i % 16 ? 10.0f : 0.0f;  // one direction for each of 16 ids
      }
    }
  }
  EXPECT_EQ(tiny.generate("6", {.tokens = 3, .temperature = 0}), "6 6 6 6");
}

}  // namespace text_generator_test
}  // namespace mpitron::inference
