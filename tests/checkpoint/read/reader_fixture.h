#pragma once

#include <gtest/gtest.h>

#include "checkpoint/read/checkpoint_reader.h"
#include "checkpoint/saved.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

// A checkpoint of a few tensors, and what a reader asks of it.

namespace mpitron::checkpoint {

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

}  // namespace mpitron::checkpoint
