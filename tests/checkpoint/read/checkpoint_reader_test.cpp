#include "checkpoint/read/checkpoint_reader.h"

#include <gtest/gtest.h>

#include "checkpoint/read/reader_fixture.h"
#include "checkpoint/saved.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::checkpoint {
namespace checkpoint_reader_test {

TEST_F(CheckpointReaderTest, ConvertsFloatingTypes) {
  CheckpointReader reader(*world_, file());
  EXPECT_EQ(reader.file().header().iteration, 4);
  const LoadTarget rounded = target("model/w", {6, 4}, DType::bf16);
  LoadTarget widened = target("half/w", {6, 4}, DType::f32);
  LoadTarget columns = target("model/w", {6, 4}, DType::f16);
  columns.tensor.shard = {.dim = 1, .ranges = {{1, 3}}};
  columns.tensor.value.shape = {12};
  columns.tensor.value.strides = device::contiguous_strides({12});
  const LoadTarget count = target("count", {}, DType::i64);
  const std::vector<LoadTarget> targets = {rounded, widened, columns, count};
  EXPECT_EQ(reader.compare(targets).text(), "");
  EXPECT_EQ(reader.read(targets).bytes, 24 * 4 + 24 * 2 + 12 * 4 + 8);
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(static_cast<float>(values<BFloat16>(rounded)[i]), static_cast<float>(half_[i]));
    EXPECT_EQ(values<float>(widened)[i], static_cast<float>(half_[i]));
  }
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(static_cast<float>(values<Float16>(columns)[i]),
              static_cast<float>(Float16(matrix_[i / 2 * 4 + 1 + i % 2])));
  }
  EXPECT_EQ(values<std::int64_t>(count)[0], 77);
}

TEST_F(CheckpointReaderTest, TakesTheFirstSourceThatIsThere) {
  CheckpointReader reader(*world_, file());
  LoadTarget other = target("master/w", {6, 4});
  other.sources = {"master/w", "model/w", "half/w"};
  EXPECT_EQ(reader.compare({&other, 1}).names(Kind::missing), std::vector<std::string>());
  reader.read({&other, 1});
  EXPECT_EQ(values<float>(other), matrix_);
}

TEST_F(CheckpointReaderTest, RowsThatOnlyOneSideHasAreLeftAsTheyAre) {
  CheckpointReader reader(*world_, file());
  for (const Index rows : {4, 6, 9}) {
    LoadTarget padded = target("model/w", {rows, 4});
    padded.tensor.rows_may_differ = true;
    EXPECT_TRUE(reader.compare({&padded, 1}).names(Kind::mismatched).empty());
    reader.read({&padded, 1});
    const std::vector<float> loaded = values<float>(padded);
    for (Index i = 0; i < std::min<Index>(rows, 6) * 4; ++i) {
      EXPECT_EQ(loaded[static_cast<std::size_t>(i)], matrix_[static_cast<std::size_t>(i)]);
    }
    for (Index i = 6 * 4; i < rows * 4; ++i) {
      EXPECT_EQ(memory_.back()[static_cast<std::size_t>(4 * i)], std::byte{0xff});
    }
  }
}

TEST_F(CheckpointReaderTest, ReportsEverythingThatDiffersAndLoadsTheRest) {
  CheckpointReader reader(*world_, file());
  const std::vector<LoadTarget> targets = {target("model/w", {6, 4}), target("half/w", {4, 6}),
                                           target("absent", {3}), target("count", {}, DType::f32)};
  const LoadReport report = reader.compare(targets);
  EXPECT_EQ(report.names(Kind::missing), std::vector<std::string>({"absent"}));
  EXPECT_EQ(report.names(Kind::mismatched), std::vector<std::string>({"count", "half/w"}));
  EXPECT_EQ(report.names(Kind::unexpected), std::vector<std::string>());
  EXPECT_NE(report.text().find("half/w is bf16 [6, 4] in the checkpoint, wanted fp32 [4, 6]"),
            std::string::npos);
  EXPECT_EQ(reader.compare({targets.data(), 1}).names(Kind::unexpected),
            std::vector<std::string>({"count", "half/w"}));
  EXPECT_EQ(reader.read(targets).bytes, 24 * 4);
  EXPECT_EQ(values<float>(targets[0]), matrix_);
}

TEST_F(CheckpointReaderTest, NamesAFileThatCannotBeRead) {
  try {
    CheckpointReader(*world_, folder_.path() / "none.h5");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    EXPECT_NE(std::string(error.what()).find("none.h5"), std::string::npos);
  }
  CheckpointReader reader(*world_, file());
  const LoadTarget whole = target("model/w", {6, 4});
  std::filesystem::resize_file(file(), 4096);
  EXPECT_THROW(reader.read({&whole, 1}), Error);
}

}  // namespace checkpoint_reader_test

}  // namespace mpitron::checkpoint
