#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include "utils/error.h"

/// Helpers for tests of files: reference data, temporary folders, corruption.
namespace mpitron::test {

/// Folder of the reference data; `MPITRON_GOLDEN_DIR` names a larger set than the one in the
/// repository.
inline std::string golden_folder() {
  const char* folder = std::getenv("MPITRON_GOLDEN_DIR");
  return folder != nullptr ? folder : MPITRON_SOURCE_DIR "/tests/golden";
}

/// Prefixes of all reference corpora.
inline std::vector<std::string> dataset_corpora() {
  std::vector<std::string> prefixes;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder() + "/dataset")) {
    if (entry.path().extension() == ".idx") {
      prefixes.push_back(entry.path().parent_path() / entry.path().stem());
    }
  }
  std::sort(prefixes.begin(), prefixes.end());
  return prefixes;
}

/// A folder of its own that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "mpitron-test-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// The message of the Error that `action` throws; empty when it throws none.
template <class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline void overwrite(const std::string& path, std::size_t offset, const void* data,
                      std::size_t size) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

/// Calls `body(mutate)` `count` times; `mutate(path)` flips a few bytes of the file or cuts it,
/// always alike.
template <class Body>
void for_each_mutation(int count, Body&& body) {
  std::mt19937 random(1);
  for (int i = 0; i < count; ++i) {
    body([&](const std::string& path) {
      const std::uint64_t size = std::filesystem::file_size(path);
      for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
        const auto value = static_cast<std::uint8_t>(random());
        overwrite(path, random() % size, &value, 1);
      }
      if (random() % 8 == 0) {
        std::filesystem::resize_file(path, random() % size);
      }
    });
  }
}

}  // namespace mpitron::test
