#include "convert/formats/tensor_source.h"

#include <gtest/gtest.h>

#include "convert/tiny_models.h"

namespace mpitron::convert {
namespace tensor_source_test {

TEST(TensorSource, FindsAndCasts) {
  test::MemorySource source;
  source.add("a", {2, 3});
  source.add("b", {4}, {1, 2, 3, 4});
  EXPECT_EQ(source.find("c"), nullptr);
  EXPECT_EQ(source.bytes(), 40);
  const auto half = cast_source(source, DType::f16);
  EXPECT_EQ(half->bytes(), 20);
  EXPECT_EQ(half->find("b")->dtype, DType::f16);
  EXPECT_EQ(test::floats_of(cast(half->read("b"), DType::f32)), (std::vector<float>{1, 2, 3, 4}));
}

}  // namespace tensor_source_test
}  // namespace mpitron::convert
