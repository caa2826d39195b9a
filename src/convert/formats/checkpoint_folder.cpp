#include "convert/formats/checkpoint_folder.h"

#include <charconv>
#include <string>

#include "checkpoint/folders/folder.h"

namespace mpitron::convert {

namespace fs = std::filesystem;

bool has_tracker(const fs::path& root) {
  return checkpoint::Folder(root).tracked().has_value();
}

fs::path iteration_folder(const fs::path& root) {
  const checkpoint::Folder folder(root);
  const std::optional<Index> tracked = folder.tracked();
  return tracked ? folder.file(*tracked).parent_path() : root;
}

Index iteration_of(const fs::path& folder) {
  constexpr std::string_view kPrefix = "iter_";
  const std::string name = folder.filename().string();
  Index iteration = -1;
  if (name.starts_with(kPrefix)) {
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), iteration);
  }
  return iteration;
}

}  // namespace mpitron::convert
