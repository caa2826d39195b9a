#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "support/golden_folder.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

/// Helpers for tests of files: reference data, corruption.
namespace mpitron::test {

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

/// Calls `body(bytes)` `count` times with `original` after a few byte flips, sometimes cut: the
/// same every time.
template <class Body>
void for_each_mutation(const std::string& original, int count, Body&& body) {
  std::mt19937 random(1);
  for (int i = 0; i < count; ++i) {
    std::string bytes = original;
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (random() % 8 == 0) {
      bytes.resize(random() % bytes.size());
    }
    body(bytes);
  }
}

/// A new file each time: some file systems bring a file that was cut to nothing and written again
/// to the disk when it is closed, which takes tests of many mutations most of their time.
inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace mpitron::test
