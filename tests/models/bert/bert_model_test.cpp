#include "models/bert/bert_model.h"

#include "models/model_parts.h"
#include "support/masked_batch.h"

namespace mpitron::models {
namespace bert_model_test {

class BertModelTest : public ModelParts {
 protected:
  Make make() {
    return [this](Model::Share share) {
      return std::make_unique<BertModel>(config_, *device_, std::move(share));
    };
  }
  Batch batch(std::int64_t padding = 0) {
    return test::masked_batch(*device_, config::ModelKind::bert, padding);
  }

  config::ModelConfig config_ = test::tiny_encoder(config::ModelKind::bert);
};

TEST_F(BertModelTest, PartsOfAPipelineMakeTheWhole) {
  config_.num_layers = 3;
  for (const bool head : {true, false}) {
    config_.bert_binary_head = head;
    expect_parts_make_the_whole(make(), batch(), 3);
  }
}

/// Token types, pooler and binary head exist with the binary head only.
TEST_F(BertModelTest, TheBinaryHeadBringsAnObjectiveOfItsOwn) {
  const PartsResult with = run(make(), batch(), {nn::whole_model(config_)});
  config_.bert_binary_head = false;
  const PartsResult without = run(make(), batch(), {nn::whole_model(config_)});
  EXPECT_EQ(with.losses.size(), 2U);
  EXPECT_EQ(with.losses[1].size(), 2 * sizeof(float));
  EXPECT_EQ(without.losses.size(), 1U);
  for (const char* name :
       {"embedding.tokentype_embeddings.weight", "pooler.dense.weight", "binary_head.bias"}) {
    EXPECT_TRUE(with.gradients.contains(name)) << name;
    EXPECT_FALSE(without.gradients.contains(name)) << name;
  }
}

TEST_F(BertModelTest, SeesBothSidesButNoPadding) {
  config_.attention_dropout = config_.hidden_dropout = 0;
  const auto losses = [&](const Batch& batch) {
    const PartsResult result = run(make(), batch, {nn::whole_model(config_)});
    std::vector<float> values(12);
    std::memcpy(values.data(), result.losses[0].data(), 12 * sizeof(float));
    return values;
  };
  const std::vector<float> one = losses(batch(0)), other = losses(batch(17));
  Batch changed = batch(0);
  changed[kTokens].data<std::int64_t>()[3 * 2] = 13;  // the last token of the first sample's text
  const std::vector<float> behind = losses(changed);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(one[2 * i], other[2 * i]) << "padding moved position " << i;
    EXPECT_NE(one[2 * i], behind[2 * i]) << "position " << i << " does not look behind itself";
  }
}

}  // namespace bert_model_test
}  // namespace mpitron::models
