#include "train/teachers/row_values.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::train {
namespace row_values_test {

TEST(RowValues, KeysSayWhatARowHolds) {
  const std::vector<std::int64_t> tokens = {1, 2}, others = {2, 1};
  const std::vector<float> weights = {1, -1}, turned = {-1, 1};
  const std::uint64_t key = RowValues::key_of(tokens, weights);
  EXPECT_EQ(RowValues::key_of(std::vector<std::int64_t>(tokens), weights), key);
  EXPECT_NE(RowValues::key_of(others, weights), key);
  EXPECT_NE(RowValues::key_of(tokens, turned), key);
}

TEST(RowValues, AreKeptInAFile) {
  const test::TemporaryFolder folder;
  RowValues values;
  values.set(7, -0.1), values.set(~0ULL, 3e-9);
  values.write(folder / "x.h5");
  RowValues read;
  read.read(folder / "x.h5");
  EXPECT_EQ(read.size(), 2U);
  EXPECT_EQ(read.of(7), -0.1);
  EXPECT_EQ(read.of(~0ULL), 3e-9);
  EXPECT_EQ(read.of(8), 0);
  EXPECT_FALSE(read.contains(8));
  EXPECT_NE(test::message_of([&] { read.read(folder / "y.h5"); }).find("y.h5"), std::string::npos);
}

}  // namespace row_values_test
}  // namespace mpitron::train
