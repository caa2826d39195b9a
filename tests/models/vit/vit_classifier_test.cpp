#include "models/vit/vit_classifier.h"

#include <cmath>
#include <cstring>

#include "models/model_parts.h"
#include "support/image_batch.h"

namespace mpitron::models {
namespace vit_classifier_test {

class VitClassifierTest : public ModelParts {
 protected:
  Make make() {
    return [this](Model::Share share) {
      return std::make_unique<VitClassifier>(config_, *device_, std::move(share));
    };
  }
  config::ModelConfig config_ = test::tiny_vit(config::VisionTask::classify);
};

TEST_F(VitClassifierTest, PartsOfAPipelineMakeTheWhole) {
  config_.num_layers = 3;
  expect_parts_make_the_whole(make(), test::image_batch(*device_, config_.vision), 3);
}

TEST_F(VitClassifierTest, NoClassIsLikelyAtFirst) {
  const PartsResult result =
      run(make(), test::image_batch(*device_, config_.vision), {nn::whole_model(config_)});
  EXPECT_EQ(result.losses.size(), 2u);  // loss and accuracy
  EXPECT_EQ(result.gradients.at("backbone.cls_token").size(),
            static_cast<std::size_t>(2 * config_.hidden_size));
  EXPECT_EQ(result.gradients.at("head.dense_out.bias").size(), 3u);
}

/// A head of zeros finds all classes equally likely, and learns at once.
TEST_F(VitClassifierTest, OneLayerMayBeTheHead) {
  config_.vision.linear_head = true;
  const PartsResult result =
      run(make(), test::image_batch(*device_, config_.vision), {nn::whole_model(config_)});
  float losses[2] = {};
  ASSERT_EQ(result.losses.front().size(), sizeof(losses));
  std::memcpy(losses, result.losses.front().data(), sizeof(losses));
  EXPECT_NEAR(losses[0], std::log(3.0), 1e-6);
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(result.gradients.at("head.weight").size(),
            static_cast<std::size_t>(3 * config_.hidden_size));
  EXPECT_EQ(result.gradients.at("head.bias").size(), 3u);
  EXPECT_FALSE(result.gradients.contains("head.dense_in.weight"));
}

/// Every patch and class token is seen: the first position's gradient reaches them all.
TEST_F(VitClassifierTest, AllPositionsAreSeenByTheFirst) {
  const PartsResult result =
      run(make(), test::image_batch(*device_, config_.vision), {nn::whole_model(config_)});
  const std::vector<double>& positions = result.gradients.at("backbone.position_embeddings.weight");
  for (Index row = 0; row < config_.vision.positions(); ++row) {
    double sum = 0;
    for (Index i = 0; i < config_.hidden_size; ++i) {
      sum += std::abs(positions[static_cast<std::size_t>(row * config_.hidden_size + i)]);
    }
    EXPECT_GT(sum, 0) << row;
  }
}

}  // namespace vit_classifier_test
}  // namespace mpitron::models
