#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/index/index_array.h"

namespace mpitron::data {

/// Inputs of an index that the reference's description does not tell.
struct IndexContent {
  std::string variant = "";    // of the options: told apart by file name
  std::string sequences = "";  // of the corpora, a hash: kept beside the arrays
};

/// Indices on disk under Megatron's names: `<md5 of description>-<class>-<split>-<name>.npy` and
/// `...-description.txt`, with `...-content.txt` for the corpora that they were built from: a
/// corpus may be made anew under its old name. Each file appears complete or not at all, so that
/// jobs may build the same index at the same time; the last rename wins, with equal content.
class IndexCache {
 public:
  static constexpr Index kAnyExtent = -1;  ///< in a shape: known only once the index is built

  /// An empty folder means no cache.
  IndexCache(std::filesystem::path folder, std::string class_and_split, std::string description,
             IndexContent content);

  std::filesystem::path path(const std::string& name) const;

  /// Returns the arrays of `load`, or of `build`, stored. Of those on one machine that want an
  /// index which is not there, one builds it and the others wait for that one only.
  std::vector<IndexArray> get(const std::vector<std::string>& names,
                              const std::vector<std::vector<Index>>& shapes,
                              const std::function<std::vector<IndexArray>()>& build) const;

  /// Returns the arrays `names`, when all are there, readable, of this content and of the `shapes`
  /// that a fresh build would have. Files that do not fit are reported, for the index to be built
  /// anew.
  std::optional<std::vector<IndexArray>> load(const std::vector<std::string>& names,
                                              const std::vector<std::vector<Index>>& shapes) const;
  /// Writes the arrays. A folder that cannot be written is reported; the run goes on with the index
  /// in memory.
  void store(const std::vector<std::string>& names, const std::vector<std::vector<Index>>& shapes,
             const std::vector<IndexArray>& arrays) const;

 private:
  bool has_content() const;

  std::filesystem::path folder_;
  std::string stem_;
  std::string description_;
  std::string content_;
};

/// A lock between builders: while it lives, others that want the same lock, in this process or
/// another one of this machine, wait in its constructor. A help, not a guarantee: where the file
/// system has no locks it is none. It ends with the process, however that ends; the file goes away.
class BuildLock {
 public:
  explicit BuildLock(std::filesystem::path file);
  ~BuildLock();
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

 private:
  bool try_lock();

  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace mpitron::data
