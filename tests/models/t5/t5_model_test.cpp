#include "models/t5/t5_model.h"

#include "models/model_parts.h"
#include "support/masked_batch.h"

namespace mpitron::models {
namespace t5_model_test {

class T5ModelTest : public ModelParts {
 protected:
  T5ModelTest() { config_.num_query_groups = 4; }
  Make make() {
    return [this](Model::Share share) {
      return std::make_unique<T5Model>(config_, *device_, std::move(share));
    };
  }
  Batch batch(std::int64_t padding = 0) {
    return test::masked_batch(*device_, config::ModelKind::t5, padding);
  }
  std::vector<float> losses(const Batch& batch) {
    const PartsResult result = run(make(), batch, {nn::whole_model(config_)});
    std::vector<float> values(8);
    std::memcpy(values.data(), result.losses[0].data(), 8 * sizeof(float));
    return values;
  }

  config::ModelConfig config_ = test::tiny_encoder(config::ModelKind::t5);
};

TEST_F(T5ModelTest, PartsOfAPipelineMakeTheWhole) {
  expect_parts_make_the_whole(make(), batch(), 4);
  config_.position_embedding_type = config::PositionEmbedding::rope;
  expect_parts_make_the_whole(make(), batch(), 4);
}

TEST_F(T5ModelTest, RecomputationChangesNoBit) {
  const PartsResult plain = run(make(), batch(), {nn::whole_model(config_)});
  config_.recompute_granularity = config::RecomputeGranularity::full;
  config_.recompute_method = config::RecomputeMethod::uniform;
  config_.recompute_num_layers = 1;
  const PartsResult again = run(make(), batch(), {nn::whole_model(config_)});
  EXPECT_EQ(again.losses, plain.losses);
  for (const auto& [name, gradient] : plain.gradients) {
    const std::vector<double>& got = again.gradients.at(name);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      ASSERT_NEAR(got[i], gradient[i], 1e-6) << name;
    }
  }
}

TEST_F(T5ModelTest, TheDecoderSeesTheWholeTextAndItsOwnPastButNoPadding) {
  config_.attention_dropout = config_.hidden_dropout = 0;
  const std::vector<float> plain = losses(batch(0)), padded = losses(batch(17));
  Batch text = batch(0), past = batch(0);
  text[kTokens].data<std::int64_t>()[3 * 2] = 13;
  past[kDecoderTokens].data<std::int64_t>()[1 * 2] = 13;
  const std::vector<float> by_text = losses(text), by_past = losses(past);
  for (std::size_t i = 0; i < 3; ++i) {  // of the first sample
    EXPECT_EQ(plain[2 * i], padded[2 * i]) << "padding moved position " << i;
    EXPECT_NE(plain[2 * i], by_text[2 * i]) << i;
    EXPECT_EQ(plain[2 * i] != by_past[2 * i], i >= 1) << i;
  }
}

TEST_F(T5ModelTest, RelativePositionsHaveATableForEachSide) {
  config_.position_embedding_type = config::PositionEmbedding::relative;
  const PartsResult result = run(make(), batch(), {nn::whole_model(config_)});
  for (const char* side : {"encoder", "decoder"}) {
    const std::vector<double>& gradient =
        result.gradients.at(std::string(side) + "_relative_pos_emb.relative_attention_bias.weight");
    EXPECT_EQ(gradient.size(), 32U * 4);
    EXPECT_NE(gradient[4], 0) << side;  // the token before
  }
  EXPECT_FALSE(result.gradients.contains("embedding.position_embeddings.weight"));
}

}  // namespace t5_model_test
}  // namespace mpitron::models
