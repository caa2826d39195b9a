#include "checkpoint/choose.h"

#include "io/json_text.h"
#include "utils/error.h"
#include "utils/files.h"

namespace mpitron::checkpoint {

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
