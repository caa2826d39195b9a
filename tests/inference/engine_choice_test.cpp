#include "inference/engine_choice.h"

#include <gtest/gtest.h>

#include "inference/cached_engine.h"
#include "inference/uncached_engine.h"
#include "models/gpt/gpt_model.h"
#include "support/host_runtime.h"
#include "tests/inference/tiny_decoder.h"

namespace mpitron::inference {
namespace engine_choice_test {

TEST(EngineChoice, DecodersAreCachedWithStatesWhereLayersKeepThem) {
  EXPECT_EQ(no_cached_path(test::tiny_decoder({})), "");
  config::ModelConfig bert = test::tiny_decoder({});
  bert.kind = config::ModelKind::bert;
  EXPECT_NE(no_cached_path(bert), "");
  config::ModelConfig t5 = test::tiny_decoder({});
  t5.kind = config::ModelKind::t5;
  EXPECT_EQ(no_cached_path(t5), "");
  config::ModelConfig delta_net = test::tiny_decoder({});
  delta_net.hybrid.delta_layers = {true, false};
  EXPECT_EQ(no_cached_path(delta_net), "");
  EXPECT_EQ(states_for(delta_net, 3), 6);
  EXPECT_EQ(no_state_types(delta_net, true), "");
  EXPECT_NE(no_state_types(delta_net, false).find("on a GPU"), std::string::npos);
  EXPECT_EQ(no_state_types(t5, true), "no layer of the model carries a state");
  EXPECT_EQ(states_for(t5, 3), 0);
}

TEST(EngineChoice, WeightsOfLinearLayersAreInProductsAlone) {
  for (const char* name :
       {"decoder.layers.3.self_attention.linear_qkv.weight",
        "decoder.layers.0.mlp.experts.local_experts.2.linear_fc2.weight",
        "language_model.decoder.layers.1.mlp.linear_fc1.weight", "output_layer.weight"}) {
    EXPECT_TRUE(in_products_alone({.name = name, .shape = {2, 2}})) << name;
  }
  for (const char* name :
       {"embedding.word_embeddings.weight", "decoder.layers.0.mlp.router.weight",
        "vision_model.decoder.layers.1.mlp.linear_fc1.weight",
        "decoder.layers.0.self_attention.linear_kv_up_proj.weight",
        "decoder.layers.0.mlp.linear_fc1.bias", "decoder.layers.0.mixer.conv1d.weight"}) {
    EXPECT_FALSE(in_products_alone({.name = name, .shape = {2, 2}})) << name;
  }
}

TEST(EngineChoice, UpdatesOfLatentsAreNotCached) {
  config::ModelConfig latent = test::tiny_decoder({});
  latent.multi_latent_attention = true;
  EXPECT_EQ(no_cached_path(latent), "");
  latent.lora.emplace();
  EXPECT_NE(no_cached_path(latent), "");
}

TEST(EngineChoice, ChunksAreCachedWhereBlocksFillThem) {
  config::ModelConfig config = test::tiny_decoder({});
  config.attention_chunk_size = 32;
  EXPECT_EQ(no_cached_path(config), "");
  EXPECT_EQ(no_recorded_steps(config), "");
  config.attention_chunk_size = 24;
  EXPECT_NE(no_recorded_steps(config), "");
  EXPECT_NE(no_cached_path(config).find("chunks of 24"), std::string::npos);
}

TEST(EngineChoice, AGpuTellsWhatItCannotCompute) {
  EXPECT_EQ(no_path_on_gpu(test::tiny_decoder({})), "");
  config::ModelConfig wide = test::tiny_decoder({"--kv-channels", "514"});
  EXPECT_NE(no_path_on_gpu(wide), "");
  wide.multi_latent_attention = true;
  wide.kv_lora_rank = 512;
  EXPECT_EQ(no_path_on_gpu(wide), "");
}

TEST(EngineChoice, StepsAreRecordedWhereTheirKernelsStayTheSame) {
  EXPECT_EQ(no_recorded_steps(test::tiny_decoder({})), "");
  EXPECT_EQ(no_recorded_steps(test::tiny_decoder(
                {"--position-embedding-type", "rope", "--attention-chunk-size", "16"})),
            "");
  EXPECT_NE(no_recorded_steps(test::tiny_decoder(
                {"--num-experts", "4", "--moe-token-dispatcher-type", "alltoall"})),
            "");
  EXPECT_NE(no_recorded_steps(test::tiny_decoder(test::letters("M*-M", 4))), "");
  config::ModelConfig t5 = test::tiny_decoder({});
  t5.kind = config::ModelKind::t5;
  EXPECT_NE(no_recorded_steps(t5), "");
}

TEST(EngineChoice, MakesTheEngineOfTheKind) {
  const auto device = device::make_device("host");
  models::GptModel model(
      test::tiny_decoder({"--seq-length", "8", "--max-position-embeddings", "8"}), *device);
  model.initialize();
  const auto engine = make_engine(*device, model, {.block_size = 8, .blocks = 2}, 30);
  EXPECT_NE(dynamic_cast<const CachedEngine*>(engine.get()), nullptr);
  EXPECT_EQ(engine->shape().max_positions, 8);
}

}  // namespace engine_choice_test
}  // namespace mpitron::inference
