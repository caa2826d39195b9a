#include "nn/layers/transformer_block.h"

#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace transformer_block_test {

class TransformerBlockTest : public LayerTest {
 protected:
  TransformerBlockTest() {
    config_.attention_dropout = 0.3;
    config_.hidden_dropout = 0.3;
  }
  Step block_step() {
    parameters_ = {};
    const TransformerBlock block(builder_, whole_model(config_));
    return step([&](Context& context, const Var& x) { return block.forward(context, x, {}); });
  }
  /// Memory that the tape holds after the forward pass.
  Index held() {
    parameters_ = {};
    const TransformerBlock block(builder_, whole_model(config_));
    initialize();
    Tape tape;
    Context cx = context(&tape);
    const Var x = input();
    const Index before = device_->allocator().statistics().bytes_in_use;
    block.forward(cx, x, {});
    return device_->allocator().statistics().bytes_in_use - before;
  }
};

TEST_F(TransformerBlockTest, RecomputationGivesTheBitsOfStoredActivations) {
  const Step stored = block_step();
  const Index all = held();
  config_.recompute_granularity = config::RecomputeGranularity::full;
  for (const auto method : {config::RecomputeMethod::uniform, config::RecomputeMethod::block}) {
    for (const Index layers : {1, 2, 3}) {  // 3 of 4: the last piece is shorter
      config_.recompute_method = method;
      config_.recompute_num_layers = layers;
      EXPECT_EQ(block_step(), stored) << layers << " layers";
      EXPECT_LT(held(), all) << layers << " layers";
    }
  }
}

TEST_F(TransformerBlockTest, SelectiveRecomputationGivesTheBitsOfStoredActivations) {
  const Step stored = block_step();
  const Index all = held();
  config_.recompute_granularity = config::RecomputeGranularity::selective;
  config_.recompute_modules = {config::RecomputeModule::core_attn};
  EXPECT_EQ(block_step(), stored);
  using enum config::RecomputeModule;
  for (const auto& modules :
       {std::vector{mlp}, std::vector{layernorm}, std::vector{mlp, layernorm}}) {
    config_.recompute_modules = modules;
    EXPECT_EQ(block_step(), stored);
    EXPECT_LT(held(), all);
  }
}

TEST_F(TransformerBlockTest, DropoutIsOn) {
  const Step stored = block_step();
  config_.hidden_dropout = 0;
  EXPECT_NE(block_step(), stored);
}

TEST_F(TransformerBlockTest, ItsLayersAreAsTheGivenSpecSays) {
  const TransformerBlock block(builder_, whole_model(config_), {.mixer = config::MixerKind::none},
                               0);
  for (const std::string& name : names()) {
    EXPECT_EQ(name.find("self_attention"), std::string::npos) << name;
  }
}

TEST_F(TransformerBlockTest, EndsWithItsNorm) {
  const TransformerBlock block(builder_, whole_model(config_));
  const std::vector<std::string> all = names();
  EXPECT_EQ(all[all.size() - 2], "final_layernorm.weight");
  EXPECT_EQ(all.back(), "final_layernorm.bias");
}

}  // namespace transformer_block_test
}  // namespace mpitron::nn
