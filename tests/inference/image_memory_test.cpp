#include "inference/image_memory.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "inference/cached_engine.h"
#include "inference/sampling/log_probs.h"
#include "models/llava/llava_batch.h"
#include "support/host_runtime.h"
#include "tests/inference/tiny_vlm.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace image_memory_test {

using test::kEdge;
using test::kPositions;
using test::tiny_vlm;

class ImagesInPrompts : public ::testing::Test {
 protected:
  explicit ImagesInPrompts(const config::ModelConfig& config = tiny_vlm("rope"))
      : model_(config, *device_,
               models::Model::Share{.groups = comm::groups_of_one(*world_),
                                    .part = nn::whole_model(config)}) {
    model_.initialize();
  }

  Answer answered(Engine& engine, GenerationRequest asked) {
    asked.log_probs = 0;
    Generator generator(engine, tokenizer_, {});
    return generator.run({std::move(asked)}).front();
  }

  CachedEngine engine(Index step_tokens) const {
    return {*device_,
            model_,
            {.block_size = 8, .blocks = 40, .slots = 2, .max_step_tokens = step_tokens},
            tokenizer_.vocab_size()};
  }

  /// The likeliest token behind a text and its log-probability, as training computes them.
  TokenLogProb next(const std::vector<std::int64_t>& text, const std::vector<float>& tiles) const {
    const auto count = static_cast<Index>(text.size());
    const auto images = static_cast<std::int64_t>(tiles.size()) / (3 * kEdge * kEdge);
    const std::vector<std::int64_t> labels(text.size()), in_row{images},
        ones(static_cast<std::size_t>(images), 1);
    const std::vector<float> mask(text.size());
    const Index length = count + images * (model_.config().vlm->positions() - 1);
    const models::Batch batch = model_.batch({.samples = 1,
                                              .sequence_length = length,
                                              .columns = {{models::kTokens, text},
                                                          {models::kLabels, labels},
                                                          {models::kLossMask, mask},
                                                          {models::kPixels, tiles},
                                                          {models::kImagesPerRow, in_row},
                                                          {models::kTilesPerImage, ones}}},
                                             {.map = {}, .length = length});
    autograd::Context context{.device = *device_, .mode = autograd::Mode::evaluate};
    const tensor::Tensor logits = model_.logits(context, batch).value;
    const float* row = logits.data<float>() + (length - 1) * logits.shape()[2];
    const auto id =
        static_cast<TokenId>(std::max_element(row, row + tokenizer_.vocab_size()) - row);
    return LogProbs(tokenizer_.vocab_size())
        .of({row, static_cast<std::size_t>(logits.shape()[2])}, id, 0)
        .token;
  }

  /// Answers about two images, step by step with and without a cache, are those of training.
  void expect_answers_of_training(std::initializer_list<Index> step_tokens) {
    const PromptImage first = test::image_of(7), second = test::image_of(3);
    std::vector<float> tiles = *first;
    tiles.insert(tiles.end(), second->begin(), second->end());
    std::vector<std::int64_t> text = {3, -200, 5, -200, 6};
    const Index positions = model_.config().vlm->positions();
    TokenIds want;
    std::vector<float> values;
    for (Index i = 0; i < 6; ++i) {
      const TokenLogProb likeliest = next(text, tiles);
      want.push_back(likeliest.id);
      values.push_back(likeliest.value);
      text.push_back(want.back());
    }
    for (const Index tokens : step_tokens) {
      CachedEngine own = engine(tokens);
      for (const char* place : {"computed", "in the cache"}) {
        const Answer answer = answered(own, test::request_about({first, second}, positions));
        EXPECT_EQ(answer.tokens, want) << place;
        for (std::size_t i = 0; i < values.size(); ++i) {
          EXPECT_NEAR(answer.log_probs[i].token.value, values[i], 1e-4) << place;
        }
      }
    }
    CachedEngine own = engine(512);
    const Answer swapped = answered(own, test::request_about({second, first}, positions));
    EXPECT_GT(std::abs(swapped.log_probs.front().token.value - values.front()), 1e-2);
  }

  std::shared_ptr<comm::World> world_ = comm::make_single_world();
  std::unique_ptr<device::Device> device_ = device::make_device("host");
  tokenizers::NullTokenizer tokenizer_{60};
  models::LlavaModel model_;
};

TEST_F(ImagesInPrompts, AreSeenAsInTraining) {
  expect_answers_of_training({7, 512});
}

/// Images whose positions see each other, which come in one step however few tokens it has room
/// for.
class WholeImagesInPrompts : public ImagesInPrompts {
 protected:
  WholeImagesInPrompts() : ImagesInPrompts(test::tiny_pooled_vlm()) {}
};

TEST_F(WholeImagesInPrompts, AreSeenAsInTraining) {
  expect_answers_of_training({6, 9, 512});
}

/// Images whose positions stand at rows and columns, in steps that end within them.
class ImagesOnAxes : public ImagesInPrompts {
 protected:
  ImagesOnAxes() : ImagesInPrompts(test::tiny_vlm_of_axes()) {}
};

TEST_F(ImagesOnAxes, AreSeenAsInTraining) {
  expect_answers_of_training({3, 7, 512});
}

/// Images that reach over chunks of attention, among experts.
class ImagesAmongExperts : public ImagesInPrompts {
 protected:
  ImagesAmongExperts() : ImagesInPrompts(test::tiny_llama4()) {}
};

TEST_F(ImagesAmongExperts, AreSeenAsInTraining) {
  expect_answers_of_training({3, 512});
}

TEST_F(WholeImagesInPrompts, AreRefusedWhereAStepIsShorter) {
  CachedEngine own = engine(5);  // with two slots
  EXPECT_THROW(answered(own, test::request_about({test::image_of(1)}, 4)), Error);
}

TEST_F(ImagesInPrompts, KnowTheSamePixelsAgain) {
  CachedEngine own = engine(64);
  const SeenImageHandle a = own.see(*test::image_of(1)), b = own.see(*test::image_of(2)),
                        again = own.see(*test::image_of(1));
  EXPECT_EQ(a, again);
  EXPECT_EQ(a->positions, kPositions);
  EXPECT_EQ(b->first, a->first - kPositions);
}

TEST_F(ImagesInPrompts, HaveTheirPlaces) {
  CachedEngine own = engine(64);
  GenerationRequest asked = test::request_about({test::image_of(1)});
  asked.images.push_back(test::image_of(2));
  EXPECT_THROW(answered(own, asked), Error);
  asked.images.clear();
  EXPECT_THROW(answered(own, asked), Error);
  asked = test::request_about({test::image_of(1)});
  asked.prompt_log_probs = true;
  EXPECT_THROW(answered(own, asked), Error);
}

TEST(LearnedPositions, TakeNoImages) {
  const std::unique_ptr<device::Device> device = device::make_device("host");
  const models::LlavaModel model(
      tiny_vlm("learned_absolute"), *device,
      models::Model::Share{.groups = comm::groups_of_one(*comm::make_single_world()),
                           .part = nn::whole_model(tiny_vlm("learned_absolute"))});
  ImageMemory images(*device, model);
  EXPECT_THROW(images.see(std::vector<float>(3 * kEdge * kEdge)), Error);
}

}  // namespace image_memory_test
}  // namespace mpitron::inference
