#include "convert/formats/tensor_source.h"

#include <cmath>
#include <cstring>

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

namespace host_tensor_test {

template <class T>
HostTensor tensor_of(const std::vector<float>& values) {
  HostTensor tensor({"x", {static_cast<Index>(values.size())}, dtype_of<T>()});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value(values[i]);
    std::memcpy(tensor.data() + i * sizeof(T), &value, sizeof(T));
  }
  return tensor;
}

template <class T>
T at(const HostTensor& tensor, std::size_t i) {
  T value;
  std::memcpy(&value, tensor.bytes().data() + i * sizeof(T), sizeof(T));
  return value;
}

TEST(HostTensor, CastsRoundToNearestEven) {
  const HostTensor wide = tensor_of<float>({1.0f, 1.00390625f, -3.5f, INFINITY});
  const HostTensor half = cast(wide, DType::bf16);
  EXPECT_EQ(half.shape(), (Shape{4}));
  EXPECT_EQ(at<BFloat16>(half, 0).bits, 0x3f80);
  EXPECT_EQ(at<BFloat16>(half, 1).bits, 0x3f80);  // halfway, to even
  EXPECT_EQ(static_cast<float>(at<BFloat16>(half, 2)), -3.5f);
  const HostTensor back = cast(half, DType::f32);
  EXPECT_EQ(at<float>(back, 2), -3.5f);
  EXPECT_EQ(at<float>(back, 3), INFINITY);
}

TEST(HostTensor, CastToTheSameTypeKeepsTheBits) {
  const float value = std::nanf("7");
  const HostTensor tensor({"x", {1}, DType::f32}, std::as_bytes(std::span(&value, 1)));
  const HostTensor same = cast(tensor, DType::f32);
  EXPECT_EQ(std::memcmp(same.bytes().data(), &value, sizeof(value)), 0);
}

TEST(HostTensor, CastToTheSameTypeCopiesNothingThatIsGivenAway) {
  HostTensor tensor = tensor_of<float>({1, 2});
  const std::byte* memory = tensor.bytes().data();
  EXPECT_EQ(cast(std::move(tensor), DType::f32).bytes().data(), memory);
  EXPECT_EQ(at<BFloat16>(cast(tensor_of<float>({1, 2}), DType::bf16), 1).bits, 0x4000);
}

}  // namespace host_tensor_test
}  // namespace mpitron::convert
