#pragma once
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "checkpoint/layouts.h"
#include "checkpoint/read/checkpoint_reader.h"
#include "checkpoint/write/checkpoint_writer.h"

namespace mpitron::checkpoint {

/// The data of a complete checkpoint by name, each data set as bytes.
inline std::map<std::string, std::string> contents_of(const std::filesystem::path& path) {
  const File file(path);
  const StoredBytes stored(file.storage());
  std::map<std::string, std::string> contents;
  for (const DataSet& data_set : file.data_sets()) {
    std::string& bytes = contents[data_set.name];
    bytes.resize(static_cast<std::size_t>(data_set.bytes()));
    stored.read(data_set.offset, bytes.data(), data_set.bytes());
  }
  for (const Extent& extent : file.extents()) {
    EXPECT_EQ(stored.hash(extent.offset, extent.bytes), extent.hash) << extent.offset;
  }
  return contents;
}

inline std::map<std::string, std::string> contents_of(const std::vector<TestTensor>& tensors) {
  std::map<std::string, std::string> contents;
  for (const TestTensor& tensor : tensors) {
    const std::vector<std::byte> values = values_of(tensor);
    contents[tensor.name] = {reinterpret_cast<const char*>(values.data()), values.size()};
  }
  return contents;
}

inline SaveReport save_and_wait(CheckpointWriter& writer, const HeldState& state,
                                const std::filesystem::path& root, Index iteration,
                                bool asynchronous) {
  const Header header{.iteration = iteration};
  writer.save({.tensors = state.tensors,
               .header = &header,
               .root = root,
               .iteration = iteration,
               .asynchronous = asynchronous});
  return *writer.finish(true);
}

inline std::vector<LoadTarget> targets_of(const HeldState& state) {
  std::vector<LoadTarget> targets;
  for (const tensor::ShardedTensor& tensor : state.tensors) {
    targets.push_back({.tensor = tensor});
  }
  return targets;
}

}  // namespace mpitron::checkpoint
