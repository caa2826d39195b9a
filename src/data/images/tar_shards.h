#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/archives/tar_members.h"

namespace mpitron::data {

/// Returns the .tar files that a path means: itself, or those of a folder, by name; none where it
/// means something else.
std::vector<std::filesystem::path> shards_of(const std::filesystem::path& path);

/// Samples in shards as WebDataset writes them: neighbouring members of a .tar whose names are the
/// same up to the first dot behind the last slash, and whose endings say what they are.
class TarShards {
 public:
  /// Opens the shards. Error(data) where there is none, or one is damaged. Headers are read once:
  /// an index of their offsets is written beside each shard (or into `index_folder`), where that is
  /// possible.
  TarShards(const std::filesystem::path& path, const std::filesystem::path& index_folder);

  /// One member of a sample.
  struct Part {
    std::string ending;  // in small letters, without the dot
    Index offset = 0, bytes = 0;
  };
  struct Sample {
    std::size_t shard = 0;
    std::string key;
    std::vector<Part> parts;  // in the order of the shard
  };
  const std::vector<Sample>& samples() const { return samples_; }
  /// Returns shard and key, for messages.
  std::string name(const Sample& sample) const;
  /// Returns the bytes of a part, valid as long as this.
  std::string_view bytes(const Sample& sample, const Part& part) const;
  /// Returns the first part with one of these endings; null: none.
  static const Part* find(const Sample& sample, std::span<const std::string_view> endings);

 private:
  void add_samples(std::size_t shard, const std::vector<io::TarMember>& members);

  std::vector<MappedFile> shards_;
  std::vector<Sample> samples_;
};

}  // namespace mpitron::data
