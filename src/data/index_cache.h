#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/index_array.h"

namespace mpitron::data {

/// Indices on disk under Megatron's names: `<md5 of description>-<class>-<split>-<name>.npy` and
/// `...-description.txt`. Each file appears complete or not at all, so that jobs may build the same
/// index at the same time; the last rename wins, with equal content.
class IndexCache {
 public:
  /// An empty folder means no cache. `variant` keeps apart what the reference's description does
  /// not tell.
  IndexCache(std::filesystem::path folder, std::string class_and_split, std::string description,
             const std::string& variant = "");

  std::filesystem::path path(const std::string& name) const;

  /// The arrays `names`, when all are there, readable and of the `sizes` that a fresh build would
  /// have. A file that does not fit is reported and built anew.
  std::optional<std::vector<IndexArray>> load(const std::vector<std::string>& names,
                                              const std::vector<std::vector<Index>>& shapes) const;
  /// A folder that cannot be written is reported; the run goes on with the index in memory.
  void store(const std::vector<std::string>& names, const std::vector<std::vector<Index>>& shapes,
             const std::vector<IndexArray>& arrays) const;

 private:
  std::filesystem::path folder_;
  std::string stem_;
  std::string description_;
};

}  // namespace mpitron::data
