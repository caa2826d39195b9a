#include "kernels/shift_rows.h"

#include <gtest/gtest.h>

namespace mpitron::kernels {
namespace {

using Rows = std::vector<std::int64_t>;

device::ConstTensorView row_of(const Rows& values) {
  return {values.data(), DType::i64, {static_cast<Index>(values.size())}};
}

template <class Stream>
Rows shifted(const Rows& x, Index parts, const In& first_after, const In& second_after) {
  Rows y(x.size(), -1);
  const Shape shape{static_cast<Index>(x.size()) / 2, 2};
  Stream stream;
  run(stream, ShiftRows{.x = device::ConstTensorView(x.data(), DType::i64, shape),
                        .first_after = first_after,
                        .second_after = second_after,
                        .parts = parts,
                        .y = device::TensorView(y.data(), DType::i64, shape)});
  return y;
}

template <class Stream>
class ShiftRowsTest : public ::testing::Test {};
using Streams = ::testing::Types<device::ReferenceStream, device::HostStream>;
TYPED_TEST_SUITE(ShiftRowsTest, Streams);

TYPED_TEST(ShiftRowsTest, MovesUpAndEndsInZeros) {
  const Rows x{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(shifted<TypeParam>(x, 1, {}, {}), (Rows{3, 4, 5, 6, 7, 8, 0, 0}));
  EXPECT_EQ(shifted<TypeParam>({1, 2}, 1, {}, {}), (Rows{0, 0}));
}

TYPED_TEST(ShiftRowsTest, PartsEndInWhatComesBehindThem) {
  const Rows x{1, 2, 3, 4, 5, 6, 7, 8}, first{10, 11}, second{20, 21};
  EXPECT_EQ(shifted<TypeParam>(x, 2, row_of(first), {}), (Rows{3, 4, 10, 11, 7, 8, 0, 0}));
  EXPECT_EQ(shifted<TypeParam>(x, 2, row_of(first), row_of(second)),
            (Rows{3, 4, 10, 11, 7, 8, 20, 21}));
}

}  // namespace
}  // namespace mpitron::kernels
