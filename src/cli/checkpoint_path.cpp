#include "cli/checkpoint_path.h"

#include <algorithm>

#include "checkpoint/folders/folder.h"
#include "utils/error.h"

// Words of commands that read checkpoints: a file, its iter_* folder, or the folder of --save,
// whose newest checkpoint is meant.

namespace mpitron::cli {

std::filesystem::path checkpoint_file(const std::filesystem::path& path) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) {
    throw_data("{}: there is no such file or folder", path.string());
  }
  if (!std::filesystem::is_directory(path, failed)) {
    return path;
  }
  const std::filesystem::path inside = path / checkpoint::Folder(path).file(0).filename();
  if (std::filesystem::exists(inside, failed)) {
    return inside;
  }
  const checkpoint::Folder folder(path);
  const auto iterations = folder.iterations();
  if (iterations.empty()) {
    throw_data(
        "{}: holds no checkpoint: neither {} nor folders iter_0000001 and so on; give a file, an "
        "iter_* folder or the folder of --save",
        path.string(), inside.filename().string());
  }
  return folder.file(iterations.back());
}

Arguments take_paths(Arguments& arguments) {
  const auto end = std::find_if(arguments.begin(), arguments.end(),
                                [](const std::string& word) { return word.starts_with("-"); });
  Arguments paths(arguments.begin(), end);
  arguments.erase(arguments.begin(), end);
  return paths;
}

std::string readable_bytes(Index bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.3g} {}", value, kUnits[unit]);
}

}  // namespace mpitron::cli
