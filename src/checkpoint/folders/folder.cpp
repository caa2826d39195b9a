#include "checkpoint/folders/folder.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <set>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "checkpoint/folders/verify.h"
#include "checkpoint/format/posix_file.h"
#include "io/logs/json_text.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Folders of checkpoints on disk. A save appears under its name only when all of its bytes and its
// name are on the disk (write, sync, rename, sync the folder); the tracker is written last.
// Therefore whatever ends a run in between leaves the checkpoints of before, and leftovers that the
// next save removes.

namespace mpitron::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTracker = "latest_checkpointed_iteration.txt";
constexpr const char* kFile = "checkpoint.h5";
constexpr std::string_view kPrefix = "iter_";
constexpr std::string_view kUnfinished = ".tmp";
constexpr Index kRelease = -1;

/// Returns "iter_0000123", or "release" for weights without an iteration: Megatron's names.
std::string name_of_iteration(Index iteration) {
  return iteration == kRelease ? "release" : fmt::format("iter_{:07d}", iteration);
}

std::optional<Index> number(std::string_view text) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size() && value >= 0;
  return whole ? std::optional(value) : std::nullopt;
}

/// Returns the iteration of a folder of the final name; none for other names, which need not be
/// ours.
std::optional<Index> iteration_of(const std::string& name) {
  if (name == name_of_iteration(kRelease)) {
    return kRelease;
  }
  const auto value = name.starts_with(kPrefix)
                         ? number(std::string_view(name).substr(kPrefix.size()))
                         : std::nullopt;
  return value && name_of_iteration(*value) == name ? value : std::nullopt;
}

/// Returns the contents of a folder, by name; nothing where there is no folder.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code failed;
  fs::directory_iterator i(folder, failed);
  for (; !failed && i != fs::directory_iterator(); i.increment(failed)) {
    paths.push_back(i->path());
  }
  if (failed && failed.value() != ENOENT) {
    throw_system_error(folder, "list", failed.value());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Renames or ends with Error(data) that says why.
void rename_folder(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    throw_system_error(from, "rename", errno);
  }
}

/// Removes a folder with all that is in it.
void remove_folder(const fs::path& path) {
  std::error_code failed;
  fs::remove_all(path, failed);
  if (failed) {
    throw_system_error(path, "remove", failed.value());
  }
}

/// Removes what a crash left: saves that never ended, removals that did not.
void remove_leftovers(const fs::path& root) {
  for (const fs::path& path : entries(root)) {
    const std::string name = path.filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kUnfinished)) {
      remove_folder(path);
    }
  }
}

/// Gives a save its name in one step even where a checkpoint of that iteration is there already (a
/// run that went back and came by again). Where the file system cannot exchange names there is a
/// moment without it.
void put_in_place(const fs::path& from, const fs::path& to) {
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
  const fs::path replaced = to.string() + ".replaced" + std::string(kUnfinished);
  rename_folder(to, replaced);
  rename_folder(from, to);
  remove_folder(replaced);
}

}  // namespace

fs::path Folder::file(Index iteration) const {
  return root_ / name_of_iteration(iteration) / kFile;
}

fs::path Folder::unfinished_file(Index iteration) const {
  return root_ / (name_of_iteration(iteration) + std::string(kUnfinished)) / kFile;
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
  AtomicFile tracker(root_ / kTracker);
  tracker.write(iteration == kRelease ? "release" : std::to_string(iteration));
  tracker.commit();
  sync_folder(root_);
}

std::vector<Index> Folder::iterations() const {
  std::vector<Index> found;
  for (const fs::path& path : entries(root_)) {
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
  const fs::path path = root_ / kTracker;
  std::error_code failed;
  if (!fs::exists(path, failed)) {
    return std::nullopt;
  }
  std::string text = read_file(path);
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  text.erase(0, text.find_first_not_of(" \t\r\n"));
  if (text == name_of_iteration(kRelease)) {
    return kRelease;
  }
  const auto iteration = number(text);
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
  for (const fs::path& path : entries(root_)) {
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
  std::erase_if(older, [newest](Index i) { return i > newest || i == kRelease; });
  older.resize(older.size() -
               static_cast<std::size_t>(std::min(kept, static_cast<Index>(older.size()))));
  return older;
}

/// Returns why a checkpoint cannot be taken; an empty text where it can.
std::string reason_against(const fs::path& path) {
  try {
    const File file(path);
    return damage_text(file, verify(file).damaged);
  } catch (const Error& error) {
    return error.what();
  }
}

/// Keeps the newest in any case, multiples of the interval, and what somebody has named.
std::vector<Index> apply_retention(const Folder& folder, const Retention& retention, Index newest) {
  std::vector<Index> deleted;
  if (!retention.retain_interval && !retention.keep_last) {
    return deleted;
  }
  const Index kept = std::max<Index>(retention.keep_last.value_or(1), 1);
  for (const Index iteration : folder.unnamed(folder.before_last(kept, newest))) {
    if (retention.retain_interval && *retention.retain_interval > 0 &&
        iteration % *retention.retain_interval == 0) {
      continue;
    }
    const fs::path path = folder.file(iteration).parent_path();
    // A crash in the middle must not leave half a checkpoint of a final name.
    const fs::path going = path.string() + ".deleted" + std::string(kUnfinished);
    rename_folder(path, going);
    remove_folder(going);
    deleted.push_back(iteration);
  }
  return deleted;
}

std::filesystem::path existing_file(const Folder& folder, Index iteration) {
  const std::filesystem::path path = folder.file(iteration);
  if (!std::filesystem::exists(path)) {
    std::string others;
    for (const Index other : folder.iterations()) {
      others += fmt::format(" {}", other);
    }
    throw_data("there is no checkpoint {}; {} has those of iterations:{}", path.string(),
               folder.root().string(), others.empty() ? " none" : others);
  }
  return path;
}

File open_newest(const Folder& folder, std::optional<Index> iteration) {
  if (iteration) {
    return File(folder.file(*iteration));
  }
  const std::vector<Index> iterations = folder.iterations();
  std::string why;
  for (auto newest = iterations.rbegin(); newest != iterations.rend(); ++newest) {
    try {
      return File(folder.file(*newest));
    } catch (const Error& error) {
      why += std::string("; ") + error.what();
    }
  }
  throw_data("{}: there is no complete checkpoint{}", folder.root().string(), why);
}

void record_verified_resume(const Folder& folder, Index iteration, const std::string& build) {
  AtomicFile record(folder.file(iteration).parent_path() / "verified_resume.json");
  record.write(fmt::format("{{\"iteration\": {}, \"equal_bits\": true, \"build\": {}}}\n",
                           iteration, io::json_string(build)));
  record.commit();
}

}  // namespace mpitron::checkpoint
