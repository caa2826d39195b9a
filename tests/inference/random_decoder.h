#pragma once
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "inference/engine_choice.h"
#include "inference/scheduling/generator.h"
#include "models/gpt/gpt_model.h"
#include "tests/inference/tiny_decoder.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::test {

/// Ids of texts for a RandomDecoder.
constexpr Index kDecoderVocabulary = 61;

/// A small model with random weights, the same on every device.
struct RandomDecoder {
  explicit RandomDecoder(const std::vector<std::string>& more,
                         std::unique_ptr<device::Device> on = device::make_device("host"))
      : device(std::move(on)), config(tiny_decoder(more)), model(config, *device) {
    model.initialize();
  }
  /// Prompts of several lengths, two of them alike, greedy ones and drawn ones in turn; with one
  /// adapter after the other, and then none, where there are any.
  static std::vector<inference::Answer> answers(
      inference::Engine& engine, const inference::SchedulerSettings& settings,
      const std::vector<inference::AdapterHandle>& adapters = {}) {
    const tokenizers::NullTokenizer tokenizer(kDecoderVocabulary - 1);
    std::vector<inference::GenerationRequest> requests;
    for (const Index length : {19, 3, 7, 19}) {
      inference::GenerationRequest request{.max_tokens = 12, .log_probs = 2};
      for (Index i = 0; i < length; ++i) {
        request.prompt.push_back(static_cast<inference::TokenId>((7 * i + length) % 5));
      }
      request.sampling.temperature = static_cast<double>(requests.size() % 2);
      request.prompt_log_probs = length == 7;
      const std::size_t turn = requests.size() % (adapters.size() + 1);
      request.adapter = turn < adapters.size() ? adapters[turn] : nullptr;
      requests.push_back(std::move(request));
    }
    inference::Generator generator(engine, tokenizer, settings);
    return generator.run(std::move(requests));
  }

  std::unique_ptr<device::Device> device;
  config::ModelConfig config;
  models::GptModel model;
};

/// A step's shapes: how prompts are cut and how often blocks run out follow from them.
struct Cut {
  Index block_size, blocks, slots, step_tokens;
  bool prefix_cache = true;

  inference::EngineShape shape(const config::ModelConfig& config, Index drafts = 0) const {
    return {.block_size = block_size,
            .blocks = blocks,
            .slots = slots,
            .states = inference::states_for(config, slots),
            .max_step_tokens = step_tokens,
            .own_drafts = drafts};
  }
};

inline void expect_near(const std::vector<inference::TokenLogProbs>& got,
                        const std::vector<inference::TokenLogProbs>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got[i].token.value, want[i].token.value, tolerance) << i;
  }
}

/// The same texts, and log-probabilities within `tolerance`.
inline void expect_same(const std::vector<inference::Answer>& got,
                        const std::vector<inference::Answer>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(got[i].tokens, want[i].tokens);
    expect_near(got[i].log_probs, want[i].log_probs, tolerance);
    expect_near(got[i].prompt_log_probs, want[i].prompt_log_probs, tolerance);
  }
}

}  // namespace mpitron::test
