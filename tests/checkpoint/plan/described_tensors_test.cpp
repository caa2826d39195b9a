#include "checkpoint/plan/described_tensors.h"

#include <gtest/gtest.h>

#include "utils/check.h"

namespace mpitron::checkpoint {
namespace described_tensors_test {

TEST(DescribedTensors, ComeBack) {
  const tensor::ShardedTensor tensor{
      .name = "a.b", .shape = {2, 3}, .value = {nullptr, DType::bf16, {6}}};
  const ShardMap map(tensor.shape, tensor.shard);
  std::string text;
  put_description(text, tensor, map);
  DescriptionReader reader(text);
  const DescribedTensor described = next_described(reader);
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(described.data_set.name, "a.b");
  EXPECT_EQ(described.data_set.dtype, DType::bf16);
  EXPECT_EQ(described.data_set.shape, (Shape{2, 3}));
  EXPECT_EQ(described.map.rows, map.rows);
  EXPECT_EQ(described.map.row_width, map.row_width);
  EXPECT_EQ(described.map.columns.size(), map.columns.size());
}

TEST(DescribedTensors, ATextThatEndsEarlyIsNoDescription) {
  std::string text;
  put_number(text, 7);
  text.pop_back();
  DescriptionReader reader(text);
  EXPECT_THROW(reader.next(), InternalError);
}

}  // namespace described_tensors_test
}  // namespace mpitron::checkpoint
