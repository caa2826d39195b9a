#include <cstring>

#include <gtest/gtest.h>

#include "io/arrays/recorded_archive.h"
#include "io/arrays/torch_archive.h"

namespace mpitron::io {
namespace torch_tensor_test {

TEST(TorchTensor, CopiesStridedViewsRowByRow) {
  const std::uint8_t storage[] = {0, 1, 2, 3, 4, 5};
  const TorchTensor columns{ElementType::u8, {3, 2}, {1, 3}, std::as_bytes(std::span(storage))};
  EXPECT_FALSE(columns.contiguous());
  std::uint8_t out[6];
  columns.copy_to(reinterpret_cast<std::byte*>(out));
  const std::uint8_t expected[] = {0, 3, 1, 4, 2, 5};
  EXPECT_EQ(std::memcmp(out, expected, 6), 0);
}

TEST(TorchArchive, ReadsExtents) {
  std::vector<Index> out;
  PickleValue one, tuple;
  one.kind = PickleValue::Kind::integer;
  one.integer = 3;
  tuple.kind = PickleValue::Kind::tuple;
  tuple.items = {&one, &one};
  EXPECT_TRUE(read_extents(tuple, out));
  EXPECT_EQ(out, (std::vector<Index>{3, 3}));
  one.integer = -1;
  EXPECT_FALSE(read_extents(tuple, out));
  EXPECT_FALSE(read_extents(one, out));
}

}  // namespace torch_tensor_test

}  // namespace mpitron::io
