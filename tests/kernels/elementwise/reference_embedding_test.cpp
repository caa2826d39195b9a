#include <gtest/gtest.h>

#include "kernels/elementwise/embedding.h"
#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels {
namespace reference_embedding_test {

device::ReferenceStream stream;

TEST(ReferenceEmbedding, LooksUpItsShareOfTheVocabulary) {
  TestTensor ids(DType::i64, {3}, {5, 4, 7}), table(DType::f32, {2, 2}, {1, 2, 3, 4});
  TestTensor position_ids(DType::i64, {3}, {0, 1, 0}),
      positions(DType::f32, {2, 2}, {0, 0, 10, 20});
  TestTensor y(DType::f32, {3, 2});
  run(stream, EmbeddingForward{ids.view(), table.view(), position_ids.view(), positions.view(),
                               y.view(), 4});
  EXPECT_EQ(y.values(), (std::vector<double>{3, 4, 11, 22, 0, 0}));
}

TEST(ReferenceEmbedding, RepeatedTokensAdd) {
  TestTensor ids(DType::i64, {4}, {1, 0, 1, 9}), dy(DType::bf16, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  TestTensor dtable(DType::f32, {2, 2}, {1, 1, 1, 1});
  EmbeddingBackward kernel{ids.view(), dy.view(), dtable.view()};
  kernel.accumulate = true;
  run(stream, kernel);
  EXPECT_EQ(dtable.values(), (std::vector<double>{4, 5, 7, 9}));
  kernel.accumulate = false;
  run(stream, kernel);
  EXPECT_EQ(dtable.values(), (std::vector<double>{3, 4, 6, 8}));
}

}  // namespace reference_embedding_test
}  // namespace mpitron::kernels
