#include "data/index/index_array.h"

#include <limits>

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace index_array_test {

template <class T>
class IndexArrayOf : public ::testing::Test {};
using Types = ::testing::Types<std::int16_t, std::int32_t, std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(IndexArrayOf, Types);

TYPED_TEST(IndexArrayOf, ReadsMemoryAndFilesAlike) {
  const std::vector<TypeParam> values = {0, 7, std::numeric_limits<TypeParam>::max(),
                                         std::numeric_limits<TypeParam>::min()};
  const test::TemporaryFolder folder;
  io::write_npy(folder / "x.npy", std::span<const TypeParam>(values), {4});
  const IndexArray memory(values), mapped{io::NpyFile(folder / "x.npy")};
  ASSERT_EQ(memory.size(), 4);
  ASSERT_EQ(mapped.size(), 4);
  EXPECT_EQ(memory.type(), io::element_type_of<TypeParam>());
  EXPECT_EQ(mapped.type(), memory.type());
  for (Index i = 0; i < 4; ++i) {
    EXPECT_EQ(memory[i], static_cast<Index>(values[static_cast<std::size_t>(i)]));
    EXPECT_EQ(mapped[i], memory[i]);
  }
}

TEST(IndexArray, CopiesShareTheValuesAndKeepThemAlive) {
  IndexArray copy;
  EXPECT_EQ(copy.size(), 0);
  const std::byte* where = nullptr;
  {
    const IndexArray original(std::vector<std::int32_t>{5, 6});
    where = original.bytes().data();
    copy = original;
  }
  EXPECT_EQ(copy.bytes().data(), where);
  EXPECT_EQ(copy[1], 6);
}

}  // namespace index_array_test
}  // namespace mpitron::data
