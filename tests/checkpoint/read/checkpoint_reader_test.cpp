#include "checkpoint/read/checkpoint_reader.h"

#include <gtest/gtest.h>

#include "checkpoint/saved.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::checkpoint {
namespace checkpoint_reader_test {

using Kind = LoadReport::Kind;

/// One process; a checkpoint of an 6 x 4 matrix of fp32, its half, and a counter.
class CheckpointReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < matrix_.size(); ++i) {
      matrix_[i] = 1.0f + static_cast<float>(i) / 512;  // not all of them are bf16 numbers
      half_[i] = BFloat16(matrix_[i]);
    }
    const std::vector<tensor::ShardedTensor> tensors = {
        {.name = "model/w", .shape = {6, 4}, .value = {matrix_.data(), DType::f32, {24}}},
        {.name = "half/w", .shape = {6, 4}, .value = {half_.data(), DType::bf16, {24}}},
        {.name = "count", .shape = {}, .value = {&count_, DType::i64, {}}}};
    const Header header{.iteration = 4};
    CheckpointWriter writer(*world_);
    writer.save({.tensors = tensors, .header = &header, .root = folder_.path(), .iteration = 4});
    ASSERT_EQ(writer.finish(true)->error, "");
  }

  std::filesystem::path file() const { return Folder(folder_.path()).file(4); }

  LoadTarget target(const std::string& name, const Shape& shape, DType dtype = DType::f32) {
    memory_.emplace_back(static_cast<std::size_t>(shape.numel()) * size_of(dtype), std::byte{0xff});
    return {{.name = name, .shape = shape, .value = {memory_.back().data(), dtype, shape}}, {}};
  }
  template <class T>
  static std::vector<T> values(const LoadTarget& target) {
    const T* const data = target.tensor.value.as<T>();
    return {data, data + target.tensor.value.numel()};
  }

  std::unique_ptr<comm::World> world_ = comm::make_single_world();
  test::TemporaryFolder folder_;
  std::vector<float> matrix_ = std::vector<float>(24);
  std::vector<BFloat16> half_ = std::vector<BFloat16>(24);
  std::int64_t count_ = 77;
  std::vector<std::vector<std::byte>> memory_;
};

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

TEST_F(CheckpointReaderTest, ReportsSurviveTheJourneyBetweenRanks) {
  LoadReport report;
  report.differences = {{Kind::unexpected, "a", "fp32 [1]", ""}, {Kind::missing, "b", "", "u8 []"}};
  LoadReport merged;
  merged.merge(report.serialize() + report.serialize());
  ASSERT_EQ(merged.differences.size(), 2u);
  EXPECT_EQ(merged.differences[0], report.differences[1]);
  EXPECT_EQ(merged.differences[1], report.differences[0]);
}

}  // namespace checkpoint_reader_test
}  // namespace mpitron::checkpoint
