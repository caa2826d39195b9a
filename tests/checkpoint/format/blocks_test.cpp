#include "checkpoint/format/blocks.h"

#include <gtest/gtest.h>

namespace mpitron::checkpoint {
namespace blocks_test {

TEST(Blocks, CoverEveryElementOnce) {
  const std::vector<DataSet> data_sets{{.name = "a", .shape = {2, kBlock}},
                                       {.name = "none", .shape = {0}},
                                       {.name = "b", .shape = {kBlock + 3}}};
  std::vector<Index> covered(data_sets.size());
  for (const Block& block : blocks_of(data_sets)) {
    EXPECT_EQ(block.begin, covered[block.data_set]);
    EXPECT_LE(block.end - block.begin, kBlock);
    covered[block.data_set] = block.end;
  }
  EXPECT_EQ(covered, (std::vector<Index>{2 * kBlock, 0, kBlock + 3}));
}

TEST(Blocks, ElementsAreReadInTheTypeThatIsStored) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64, DType::u8, DType::i16}) {
    visit_storage(dtype, [&]<class T>() {
      const T values[] = {static_cast<T>(1.0f), static_cast<T>(3.0f)};
      const std::string bytes(reinterpret_cast<const char*>(values), sizeof(values));
      EXPECT_EQ(sizeof(T), size_of(dtype));
      EXPECT_EQ(as_double(element<T>(bytes, 1)), 3);
    });
  }
}

}  // namespace blocks_test
}  // namespace mpitron::checkpoint
