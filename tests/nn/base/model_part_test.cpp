#include "nn/base/model_part.h"

#include <gtest/gtest.h>

namespace mpitron::nn {
namespace model_part_test {

TEST(ModelPart, TheWholeModelHasBothEnds) {
  config::ModelConfig model;
  model.num_layers = 3;
  const ModelPart part = whole_model(model);
  EXPECT_EQ(part.first_layer, 0);
  EXPECT_EQ(part.num_layers, 3);
  EXPECT_TRUE(part.has_embedding && part.has_output && part.looks_up_words());
}

TEST(ModelPart, PredictionDepthsLookUpWordsOnTheLastStage) {
  const ModelPart last{.has_embedding = false, .prediction_depths = 1};
  EXPECT_TRUE(last.looks_up_words());
  EXPECT_FALSE(ModelPart{.has_embedding = false}.looks_up_words());
}

}  // namespace model_part_test
}  // namespace mpitron::nn
