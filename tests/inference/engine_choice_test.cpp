#include "inference/engine_choice.h"

#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "inference/cached_engine.h"
#include "inference/uncached_engine.h"
#include "models/gpt/gpt_model.h"
#include "support/host_runtime.h"

namespace mpitron::inference {
namespace engine_choice_test {

config::ModelConfig config_of(std::vector<std::string> more) {
  std::vector<std::string> flags = {"--num-layers",
                                    "2",
                                    "--hidden-size",
                                    "16",
                                    "--num-attention-heads",
                                    "2",
                                    "--seq-length",
                                    "8",
                                    "--max-position-embeddings",
                                    "8",
                                    "--micro-batch-size",
                                    "1",
                                    "--train-iters",
                                    "1",
                                    "--lr",
                                    "1e-3",
                                    "--mock-data"};
  flags.insert(flags.end(), more.begin(), more.end());
  config::ModelConfig config = config::parse_run_config(flags).model;
  config.padded_vocab_size = 32;
  return config;
}

TEST(EngineChoice, AttentionIsCachedAndStatesAreNot) {
  EXPECT_EQ(no_cached_path(config_of({})), "");
  config::ModelConfig bert = config_of({});
  bert.kind = config::ModelKind::bert;
  EXPECT_NE(no_cached_path(bert), "");
  config::ModelConfig t5 = config_of({});
  t5.kind = config::ModelKind::t5;
  EXPECT_EQ(no_cached_path(t5), "");
  config::ModelConfig delta_net = config_of({});
  delta_net.hybrid.delta_layers = {true, false};
  EXPECT_NE(no_cached_path(delta_net), "");
}

TEST(EngineChoice, UpdatesOfLatentsAreNotCached) {
  config::ModelConfig latent = config_of({});
  latent.multi_latent_attention = true;
  EXPECT_EQ(no_cached_path(latent), "");
  latent.lora.emplace();
  EXPECT_NE(no_cached_path(latent), "");
}

TEST(EngineChoice, MakesTheEngineOfTheKind) {
  const auto device = device::make_device("host");
  models::GptModel model(config_of({}), *device);
  model.initialize();
  const auto engine = make_engine(*device, model, {.block_size = 8, .blocks = 2}, 30);
  EXPECT_NE(dynamic_cast<const CachedEngine*>(engine.get()), nullptr);
  EXPECT_EQ(engine->shape().max_positions, 8);
}

}  // namespace engine_choice_test
}  // namespace mpitron::inference
