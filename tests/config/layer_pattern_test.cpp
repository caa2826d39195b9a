#include "config/layer_pattern.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "config/flags.h"

namespace mpitron::config {
namespace layer_pattern_test {

std::string kinds(const std::string& flags) {
  const ModelConfig model = test::parse_base(flags).run.model;
  std::string text;
  for (Index layer = 1; layer <= model.num_layers + 1; ++layer) {
    text += layer_spec(model, layer).feed_forward == FeedForwardKind::experts ? 'e' : '-';
  }
  return text;
}

TEST(LayerPattern, ExpertsByFrequencyOrList) {
  const std::string experts = "--disable-bias-linear --num-experts 4 --moe-layer-freq ";
  EXPECT_EQ(kinds(""), "-----");
  EXPECT_EQ(kinds(experts + "1"), "eeeee");
  EXPECT_EQ(kinds(experts + "2"), "e-e--");  // a layer behind the last is as the last
  EXPECT_EQ(kinds(experts + "3"), "e--ee");
  EXPECT_EQ(kinds(experts + "([0]+[1]*3)"), "-eeee");
}

// The reference's MultiTokenPredictionLayer builds its transformer layer without a number, so
// no_rope_freq[layer_number - 1] (attention.py) is the first entry for every depth.
TEST(LayerPattern, ADepthOfPredictionRotatesAsTheFirstLayer) {
  const auto rotating = [](const std::string& pattern) {
    const ModelConfig model =
        test::parse_base("--position-embedding-type rope --mtp-num-layers 2 --no-rope-freq " +
                         pattern)
            .run.model;
    std::string text;
    for (Index layer = 1; layer <= model.num_layers + 2; ++layer) {
      text += layer_spec(model, layer).rotates ? 'r' : '-';
    }
    return text;
  };
  EXPECT_EQ(rotating("2"), "r-r-rr");
  EXPECT_EQ(rotating("[1,0,0,0]"), "-rrr--");
}

TEST(LayerPattern, ALetterIsAMixerOrAFeedForwardNetwork) {
  ModelConfig model = test::parse_base("").run.model;
  model.hybrid.pattern = "M*G-E";
  model.num_layers = 5;
  std::string text;
  for (const LayerSpec& layer : layer_pattern(model)) {
    text += std::string(layer.mixer_name()) + "/" + facts(layer.feed_forward).name + " ";
    EXPECT_NE(layer.mixer == MixerKind::none, layer.feed_forward == FeedForwardKind::none);
  }
  EXPECT_EQ(text, "mamba/- self attention/- delta net/- -/mlp -/experts ");
  for (const char letter : model.hybrid.pattern) {
    EXPECT_NE(pattern_letters().find(letter), std::string::npos) << letter;
  }
}

TEST(LayerPattern, ADecoderBehindAnEncoderIsCausalAndAttendsToIt) {
  ModelConfig model = test::parse_base("").run.model;
  model.kind = ModelKind::t5;
  model.num_layers = 1;
  const std::vector<LayerSpec> layers = layer_pattern(model);
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_FALSE(layers[0].causal || layers[0].cross_attention);
  EXPECT_TRUE(layers[1].causal && layers[1].cross_attention);
  EXPECT_STREQ(layers[1].mixer_name(), "self and cross");
}

TEST(LayerPattern, AWindowIsOfTheLayersThatHaveIt) {
  ModelConfig model = test::parse_base("").run.model;
  EXPECT_FALSE(layer_spec(model, 1).window);
  model.window_size = {4, 0};
  EXPECT_TRUE(layer_spec(model, 1).window);
  model.window_layers = {true, false, true, false};
  EXPECT_TRUE(layer_spec(model, 3).window);
  // Depths of prediction count by themselves, and letters in each of them.
  EXPECT_TRUE(layer_spec(model, 5).window);
  EXPECT_FALSE(layer_spec(model, 6).window);
  model.hybrid.pattern = "M*M*", model.hybrid.depth_pattern = "M*";
  for (const Index depth : {0, 1}) {
    EXPECT_TRUE(layer_spec(model, 5 + 2 * depth).window);
    EXPECT_FALSE(layer_spec(model, 6 + 2 * depth).window);
  }
}

}  // namespace layer_pattern_test

}  // namespace mpitron::config
