#include <algorithm>

#include "checkpoint/folders/folder.h"
#include "checkpoint/folders/folder_changes.h"
#include "checkpoint/folders/verify.h"
#include "io/logs/json_text.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Which checkpoints a run keeps, and which of them it opens.

namespace mpitron::checkpoint {

namespace fs = std::filesystem;

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
    const fs::path going = path.string() + ".deleted" + std::string(kUnfinishedEnd);
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
