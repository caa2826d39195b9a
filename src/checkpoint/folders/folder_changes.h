#pragma once
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "checkpoint/folders/folder_names.h"
#include "checkpoint/format/posix_file.h"

namespace mpitron::checkpoint {

/// Returns the contents of a folder, by name; nothing where there is no folder.
inline std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code failed;
  std::filesystem::directory_iterator i(folder, failed);
  for (; !failed && i != std::filesystem::directory_iterator(); i.increment(failed)) {
    paths.push_back(i->path());
  }
  if (failed && failed.value() != ENOENT) {
    throw_system_error(folder, "list", failed.value());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Renames or ends with Error(data) that says why.
inline void rename_folder(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    throw_system_error(from, "rename", errno);
  }
}

/// Removes a folder with all that is in it.
inline void remove_folder(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::remove_all(path, failed);
  if (failed) {
    throw_system_error(path, "remove", failed.value());
  }
}

/// Removes what a crash left: saves that never ended, removals that did not.
inline void remove_leftovers(const std::filesystem::path& root) {
  for (const std::filesystem::path& path : folder_entries(root)) {
    const std::string name = path.filename().string();
    if (name.starts_with(kIterationPrefix) && name.ends_with(kUnfinishedEnd)) {
      remove_folder(path);
    }
  }
}

/// Gives a save its name in one step even where a checkpoint of that iteration is there already (a
/// run that went back and came by again). Where the file system cannot exchange names there is a
/// moment without it.
inline void put_in_place(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) {
    return;
  }
  if (errno != ENOTEMPTY && errno != EEXIST) {
    throw_system_error(from, "rename", errno);
  }
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    remove_folder(from);
    return;
  }
  const std::filesystem::path replaced = to.string() + ".replaced" + std::string(kUnfinishedEnd);
  rename_folder(to, replaced);
  rename_folder(from, to);
  remove_folder(replaced);
}

}  // namespace mpitron::checkpoint
