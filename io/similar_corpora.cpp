#include "io/similar_corpora.h"

#include <algorithm>
#include <filesystem>

namespace mpitron::io {

namespace fs = std::filesystem;

std::vector<std::string> similar_corpora(const std::string& prefix) {
  const fs::path path(prefix);
  if (path.extension() == ".bin" || path.extension() == ".idx") {
    const std::string shorter = prefix.substr(0, prefix.size() - 4);
    if (fs::exists(shorter + ".idx")) {
      return {shorter};
    }
  }
  constexpr std::size_t kMost = 3;
  const std::string begin = path.filename();
  std::vector<std::string> found;
  std::error_code absent;  // no such folder: nothing is similar
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, absent)) {
    const std::string name = entry.path().stem();
    if (entry.path().extension() == ".idx" && name.starts_with(begin)) {
      found.push_back(path.parent_path() / name);
    }
  }
  std::sort(found.begin(), found.end());
  found.resize(std::min(found.size(), kMost));
  return found;
}

}  // namespace mpitron::io
