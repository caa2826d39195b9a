#include "config/layer_kind.h"

#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace {

std::string kinds(const std::string& flags) {
  const ModelConfig model = test::parse_base(flags).run.model;
  std::string text;
  for (Index layer = 1; layer <= model.num_layers + 1; ++layer) {
    const LayerKind kind = layer_kind(model, layer);
    text += kind.feed_forward == LayerKind::FeedForward::experts ? 'e' : '-';
  }
  return text;
}

TEST(LayerKind, ExpertsByFrequencyOrList) {
  const std::string experts = "--disable-bias-linear --num-experts 4 --moe-layer-freq ";
  EXPECT_EQ(kinds(""), "-----");
  EXPECT_EQ(kinds(experts + "1"), "eeeee");
  EXPECT_EQ(kinds(experts + "2"), "e-e--");  // a layer behind the last is as the last
  EXPECT_EQ(kinds(experts + "3"), "e--ee");
  EXPECT_EQ(kinds(experts + "([0]+[1]*3)"), "-eeee");
}

// The reference's MultiTokenPredictionLayer builds its transformer layer without a number, so
// no_rope_freq[layer_number - 1] (attention.py) is the first entry for every depth.
TEST(LayerKind, ADepthOfPredictionRotatesAsTheFirstLayer) {
  const auto rotating = [](const std::string& pattern) {
    const ModelConfig model =
        test::parse_base("--position-embedding-type rope --mtp-num-layers 2 --no-rope-freq " +
                         pattern)
            .run.model;
    std::string text;
    for (Index layer = 1; layer <= model.num_layers + 2; ++layer) {
      text += rotates(model, layer) ? 'r' : '-';
    }
    return text;
  };
  EXPECT_EQ(rotating("2"), "r-r-rr");
  EXPECT_EQ(rotating("[1,0,0,0]"), "-rrr--");
}

TEST(LayerKind, Names) {
  EXPECT_STREQ(to_string(LayerKind::FeedForward::experts), "experts");
  EXPECT_STREQ(to_string(LayerKind::FeedForward::mlp), "mlp");
  EXPECT_STREQ(to_string(LayerKind::Attention::latent), "latent attention");
  EXPECT_STREQ(to_string(LayerKind::Attention::self), "self attention");
}

}  // namespace
}  // namespace mpitron::config
