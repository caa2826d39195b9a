#include "checkpoint/folders/folder.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "checkpoint/folders/folder_changes.h"
#include "checkpoint/folders/folder_names.h"
#include "checkpoint/format/posix_file.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Folders of checkpoints on disk. A save appears under its name only when all of its bytes and its
// name are on the disk (write, sync, rename, sync the folder); the tracker is written last.
// Therefore whatever ends a run in between leaves the checkpoints of before, and leftovers that the
// next save removes.

namespace mpitron::checkpoint {

namespace fs = std::filesystem;

fs::path Folder::file(Index iteration) const {
  return root_ / name_of_iteration(iteration) / kCheckpointFile;
}

fs::path Folder::unfinished_file(Index iteration) const {
  return root_ / (name_of_iteration(iteration) + std::string(kUnfinishedEnd)) / kCheckpointFile;
}

/// Makes room for a save: the folder itself, without leftovers of saves that were cut off.
void Folder::begin(Index iteration) const {
  const fs::path folder = unfinished_file(iteration).parent_path();
  std::error_code failed;
  fs::create_directories(root_, failed);
  if (failed) {
    throw_system_error(root_, "create the folder of --save", failed.value());
  }
  remove_leftovers(root_);
  fs::create_directory(folder, failed);
  if (failed) {
    throw_system_error(folder, "create", failed.value());
  }
}

/// Brings a finished save to the disk and to its name, without moving the tracker.
void Folder::put(Index iteration) const {
  const fs::path unfinished = unfinished_file(iteration);
  PosixFile(unfinished, PosixFile::Mode::modify).sync();
  sync_folder(unfinished.parent_path());
  put_in_place(unfinished.parent_path(), file(iteration).parent_path());
  sync_folder(root_);
}

/// Puts a save in place and moves the tracker: from here on a run that starts takes this
/// checkpoint.
void Folder::commit(Index iteration) const {
  put(iteration);
  AtomicFile tracker(root_ / kTrackerName);
  tracker.write(iteration == kReleaseIteration ? "release" : std::to_string(iteration));
  tracker.commit();
  sync_folder(root_);
}

std::vector<Index> Folder::iterations() const {
  std::vector<Index> found;
  for (const fs::path& path : folder_entries(root_)) {
    std::error_code failed;
    if (const auto iteration = iteration_of(path.filename().string());
        iteration && fs::is_directory(path, failed)) {
      found.push_back(*iteration);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// A person may have written the file: white space around the word is allowed.
std::optional<Index> Folder::tracked() const {
  const fs::path path = root_ / kTrackerName;
  std::error_code failed;
  if (!fs::exists(path, failed)) {
    return std::nullopt;
  }
  std::string text = read_file(path);
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  text.erase(0, text.find_first_not_of(" \t\r\n"));
  if (text == name_of_iteration(kReleaseIteration)) {
    return kReleaseIteration;
  }
  const auto iteration = natural_number(text);
  if (!iteration) {
    throw_data(
        "{}: holds \"{}\", and only an iteration or \"release\" is possible: write there "
        "which iter_* folder is to be loaded, or name it by --ckpt-step",
        path.string(), text.substr(0, 40));
  }
  return iteration;
}

std::vector<Index> Folder::unnamed(const std::vector<Index>& older) const {
  std::error_code failed;
  std::set<fs::path> targets;
  for (const fs::path& path : folder_entries(root_)) {
    if (fs::is_symlink(path, failed)) {
      targets.insert(fs::weakly_canonical(path, failed));
    }
  }
  std::vector<Index> unnamed;
  std::ranges::copy_if(older, std::back_inserter(unnamed), [&](Index iteration) {
    const fs::path path = file(iteration).parent_path();
    return !fs::is_symlink(path, failed) && !targets.contains(fs::weakly_canonical(path, failed));
  });
  return unnamed;
}

std::vector<Index> Folder::before_last(Index kept, Index newest) const {
  std::vector<Index> older = iterations();
  std::erase_if(older, [newest](Index i) { return i > newest || i == kReleaseIteration; });
  older.resize(older.size() -
               static_cast<std::size_t>(std::min(kept, static_cast<Index>(older.size()))));
  return older;
}

}  // namespace mpitron::checkpoint
