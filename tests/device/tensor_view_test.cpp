#include "device/tensor_view.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron::device {
namespace tensor_view_test {

/// [2, 3, 4] with the values 0 .. 23.
class TensorViewTest : public ::testing::Test {
 protected:
  TensorViewTest() { std::iota(memory_.begin(), memory_.end(), 0.f); }

  /// The elements of a view of rank 3, in order.
  static std::vector<float> elements(const ConstTensorView& x) {
    std::vector<float> result;
    for (Index i = 0; i < x.size(0); ++i) {
      for (Index j = 0; j < x.size(1); ++j) {
        for (Index k = 0; k < x.size(2); ++k) {
          result.push_back(x.as<float>()[i * x.stride(0) + j * x.stride(1) + k * x.stride(2)]);
        }
      }
    }
    return result;
  }

  std::vector<float> memory_ = std::vector<float>(24);
  TensorView view_{memory_.data(), DType::f32, {2, 3, 4}};
};

TEST_F(TensorViewTest, StridesAreContiguousUnlessGiven) {
  EXPECT_EQ(view_.strides, (Strides{12, 4, 1}));
  EXPECT_TRUE(view_.contiguous());
  EXPECT_EQ(view_.size(-1), 4);
  EXPECT_EQ(view_.stride(-2), 4);
  EXPECT_EQ(view_.numel(), 24);
  EXPECT_EQ(view_.bytes(), 96);
}

TEST_F(TensorViewTest, AnEmptyViewIsAnAbsentArgument) {
  const ConstTensorView absent;
  EXPECT_FALSE(absent);
  EXPECT_EQ(absent.bytes(), 0);
  EXPECT_TRUE(view_);
}

TEST_F(TensorViewTest, ASliceSharesMemoryAndKeepsStrides) {
  const TensorView middle = slice(view_, 1, 1, 3);
  EXPECT_EQ(middle.shape, (Shape{2, 2, 4}));
  EXPECT_FALSE(middle.contiguous());
  EXPECT_EQ(elements(middle), (std::vector<float>{4, 5, 6, 7, 8, 9, 10, 11,  //
                                                  16, 17, 18, 19, 20, 21, 22, 23}));
  middle.as<float>()[0] = -1;
  EXPECT_EQ(memory_[4], -1);
  EXPECT_EQ(elements(slice(slice(view_, 0, 1, 2), 2, 2, 4)),
            (std::vector<float>{14, 15, 18, 19, 22, 23}));
  EXPECT_EQ(slice(view_, 0, 1, 1).numel(), 0);
}

TEST_F(TensorViewTest, ASliceOutsideIsABrokenInvariant) {
  EXPECT_THROW(slice(view_, 1, 0, 4), InternalError);
  EXPECT_THROW(slice(view_, 1, -1, 2), InternalError);
  EXPECT_THROW(slice(view_, 1, 2, 1), InternalError);
}

TEST_F(TensorViewTest, ReshapeKeepsElementsOfContiguousViews) {
  const ConstTensorView folded = reshape(ConstTensorView(view_), {6, 4});
  EXPECT_EQ(folded.data, memory_.data());
  EXPECT_EQ(folded.strides, (Strides{4, 1}));
  EXPECT_THROW(reshape(view_, {5, 4}), InternalError);
  EXPECT_THROW(reshape(slice(view_, 1, 0, 2), {4, 4}), InternalError);
}

}  // namespace tensor_view_test
}  // namespace mpitron::device
