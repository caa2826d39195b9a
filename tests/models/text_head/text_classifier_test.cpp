#include "models/text_head/text_classifier.h"

#include "models/model_parts.h"
#include "models/text_head/text_head_batch.h"
#include "support/masked_batch.h"

namespace mpitron::models {
namespace text_classifier_test {

class TextClassifierTest : public ModelParts {
 protected:
  Make make() {
    return [this](Model::Share share) {
      return std::make_unique<TextClassifier>(config_, *device_, std::move(share));
    };
  }
  void ask(config::ModelKind kind, const config::TextHead& head) {
    config_ = kind == config::ModelKind::bert ? test::tiny_encoder(kind) : test::tiny_gpt();
    config_.num_layers = 3;
    config_.text_head = head;
    batch_ = kind == config::ModelKind::bert ? test::masked_batch(*device_, kind)
                                             : test::tiny_batch(*device_, 6, 0, 2);
    const Index samples = 2 / head.choices;
    batch_[kLabels] = test::make_ids(
        *device_, {1, samples}, std::vector<std::int64_t>(static_cast<std::size_t>(samples), 1));
    batch_[kLossMask] = {};
    batch_.loss_tokens = static_cast<double>(samples);
    if (kind == config::ModelKind::gpt) {  // positions 5 and 3 of the two texts
      batch_[kReadRows] = test::make_ids(*device_, {2}, {5 * 2, 3 * 2 + 1});
      batch_[kReadFrom] =
          test::make_ids(*device_, {12}, {-1, -1, -1, -1, -1, -1, -1, 1, -1, -1, 0, -1});
    }
    if (head.score) {
      batch_[kScores] = test::make_tensor(*device_, {1, samples, 1}, DType::f32, {0.5, 2});
    }
  }
  config::ModelConfig config_;
  Batch batch_;
};

TEST_F(TextClassifierTest, PartsOfAPipelineMakeTheWhole) {
  for (const auto kind : {config::ModelKind::bert, config::ModelKind::gpt}) {
    for (const config::TextHead& head :
         {config::TextHead{.outputs = 3}, config::TextHead{.outputs = 1, .choices = 2},
          config::TextHead{.outputs = 1, .score = true}}) {
      ask(kind, head);
      expect_parts_make_the_whole(make(), batch_, 3);
    }
  }
}

TEST_F(TextClassifierTest, HeadsHaveTheReferencesNames) {
  ask(config::ModelKind::bert, {.outputs = 3});
  const PartsResult classes = run(make(), batch_, {nn::whole_model(config_)});
  EXPECT_EQ(classes.losses.size(), 2u);  // loss and accuracy
  EXPECT_EQ(classes.gradients.at("classification_head.bias").size(), 3u);
  EXPECT_EQ(classes.gradients.count("pooler.dense.weight"), 1u);
  EXPECT_EQ(classes.gradients.count("lm_head.dense.weight"), 0u);
  ask(config::ModelKind::gpt, {.outputs = 1, .choices = 2});
  const PartsResult choices = run(make(), batch_, {nn::whole_model(config_)});
  EXPECT_EQ(choices.gradients.at("multichoice_head.weight").size(),
            static_cast<std::size_t>(config_.hidden_size));
  EXPECT_EQ(choices.gradients.count("pooler.dense.weight"), 0u);
}

/// Nothing behind a decoder's last token is seen.
TEST_F(TextClassifierTest, PaddingOfADecoderChangesNothing) {
  ask(config::ModelKind::gpt, {.outputs = 2});
  const PartsResult before = run(make(), batch_, {nn::whole_model(config_)});
  auto* const tokens = batch_[kTokens].data<std::int64_t>();
  tokens[4 * 2 + 1] = tokens[5 * 2 + 1] = 9;  // of the second text, which ends at position 3
  EXPECT_EQ(run(make(), batch_, {nn::whole_model(config_)}).losses[0], before.losses[0]);
  tokens[3 * 2 + 1] = 9;
  EXPECT_NE(run(make(), batch_, {nn::whole_model(config_)}).losses[0], before.losses[0]);
}

}  // namespace text_classifier_test
}  // namespace mpitron::models
