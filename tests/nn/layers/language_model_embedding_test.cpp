#include "nn/layers/language_model_embedding.h"

#include <algorithm>
#include <cmath>

#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace language_model_embedding_test {

class LanguageModelEmbeddingTest : public LayerTest {
 protected:
  Var forward(const LanguageModelEmbedding& embedding, Context cx) {
    initialize();
    return embedding.forward(
        cx, {test::make_ids(*device_, {2, 1}, {3, 5}), test::make_ids(*device_, {2, 1}, {0, 1})});
  }
};

TEST_F(LanguageModelEmbeddingTest, LearnsPositionsOnlyWhereTheModelHasThem) {
  const LanguageModelEmbedding learned(builder_);
  EXPECT_EQ(names(),
            (std::vector<std::string>{"word_embeddings.weight", "position_embeddings.weight"}));
  EXPECT_EQ(parameters_.find("position_embeddings.weight")->shape, (Shape{8, 16}));
  EXPECT_EQ(&learned.word_embeddings(), parameters_.find("word_embeddings.weight"));
  parameters_ = {};
  config_.position_embedding_type = config::PositionEmbedding::rope;
  const LanguageModelEmbedding rotary(builder_);
  EXPECT_EQ(names(), std::vector<std::string>{"word_embeddings.weight"});
}

// LanguageModule.setup_embeddings_and_output_layer of the reference marks
// embedding.word_embeddings.weight and output_layer.weight, no other table.
TEST_F(LanguageModelEmbeddingTest, TheLearningRateOfWordsAloneMayBeDecoupled) {
  const LanguageModelEmbedding embedding(builder_, 2);
  EXPECT_TRUE(parameters_.find("word_embeddings.weight")->role.embedding_or_output);
  EXPECT_FALSE(parameters_.find("position_embeddings.weight")->role.embedding_or_output);
  EXPECT_FALSE(parameters_.find("tokentype_embeddings.weight")->role.embedding_or_output);
}

TEST_F(LanguageModelEmbeddingTest, DropsOnlyInTraining) {
  config_.hidden_dropout = 0.5;
  const LanguageModelEmbedding embedding(builder_);
  Context cx = context();
  const std::vector<double> trained = test::values_of(forward(embedding, cx).value);
  cx.mode = autograd::Mode::evaluate;
  const std::vector<double> evaluated = test::values_of(forward(embedding, cx).value);
  EXPECT_GT(std::count(trained.begin(), trained.end(), 0.0), 4);
  EXPECT_EQ(std::count(evaluated.begin(), evaluated.end(), 0.0), 0);
}

TEST_F(LanguageModelEmbeddingTest, AddsTheRowOfATokensType) {
  const LanguageModelEmbedding embedding(builder_, 2);
  initialize();
  const auto ids = test::make_ids(*device_, {2, 1}, {3, 3});
  const auto positions = test::make_ids(*device_, {2, 1}, {1, 1});
  Context cx = context();
  const std::vector<double> y =
      test::values_of(embedding
                          .forward(cx, {.ids = ids,
                                        .position_ids = positions,
                                        .types = test::make_ids(*device_, {2, 1}, {0, 1})})
                          .value);
  const std::vector<double> types =
      test::values_of(parameters_.find("tokentype_embeddings.weight")->value);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(y[16 + i] - y[i], types[16 + i] - types[i], 1e-6);
  }
}

/// The root is rounded as the embeddings are: of 17 it is 4.125 in bf16.
TEST_F(LanguageModelEmbeddingTest, EmbeddingsMayBeScaledByTheRootOfTheirWidth) {
  config_.position_embedding_type = config::PositionEmbedding::none;
  config_.hidden_size = 17;
  const auto factor = [&](DType dtype) {
    std::vector<double> values[2];
    for (const bool scaled : {false, true}) {
      parameters_ = {};
      config_.params_dtype = dtype;
      config_.scale_embeddings = scaled;
      const LanguageModelEmbedding embedding(builder_);
      values[scaled ? 1 : 0] = test::values_of(forward(embedding, context()).value);
    }
    return values[1][0] / values[0][0];
  };
  EXPECT_NEAR(factor(DType::f32), std::sqrt(17.0), 1e-6);
  EXPECT_NEAR(factor(DType::bf16), 4.125, 0.02);
}

TEST_F(LanguageModelEmbeddingTest, AnFp32ResidualStreamStartsHere) {
  config_.params_dtype = DType::bf16;
  const LanguageModelEmbedding half(builder_);
  EXPECT_EQ(forward(half, context()).value.dtype(), DType::bf16);
  parameters_ = {};
  config_.fp32_residual_connection = true;
  const LanguageModelEmbedding wide(builder_);
  EXPECT_EQ(forward(wide, context()).value.dtype(), DType::f32);
}

}  // namespace language_model_embedding_test
}  // namespace mpitron::nn
