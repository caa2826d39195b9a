#pragma once
#include <filesystem>
#include <string>

#include "utils/shape.h"

namespace mpitron::convert {

/// Whether there is a latest_checkpointed_iteration.txt, as Megatron and this program write it.
bool has_tracker(const std::filesystem::path& root);

/// The folder that the tracker chooses: iter_0000123 or release. `root` itself where there is no
/// tracker. Error(data) for a tracker with other text.
std::filesystem::path iteration_folder(const std::filesystem::path& root);

/// 123 for iter_0000123, -1 for everything else.
Index iteration_of(const std::filesystem::path& folder);

/// A new checkpoint folder: written under a temporary name, renamed when complete, then tracked.
class NewIteration {
 public:
  /// `iteration` -1: release. Error(data) where the folder is there already.
  NewIteration(const std::filesystem::path& root, Index iteration);

  std::filesystem::path unfinished() const { return root_ / (name_ + ".tmp"); }
  /// Returns the folder under its final name.
  std::filesystem::path commit() const;

 private:
  std::filesystem::path root_;
  std::string name_;
  std::string tracked_;
};

}  // namespace mpitron::convert
