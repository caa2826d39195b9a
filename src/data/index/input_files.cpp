#include "data/index/input_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include <glob.h>

#include "utils/error.h"

// The files that --input means, for `mpitron preprocess` and the commands on corpora.

namespace mpitron::data {
namespace {

namespace fs = std::filesystem;

bool holds_documents(fs::path file) {
  static constexpr std::array<std::string_view, 4> kEndings = {".jsonl", ".json", ".ndjson",
                                                               ".txt"};
  if (file.extension() == ".gz" || file.extension() == ".zst") {
    file = file.stem();
  }
  return std::ranges::find(kEndings, file.extension().string()) != kEndings.end();
}

/// Sorted, so that a corpus does not depend on the order in which a file system lists.
std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (at->is_regular_file() && holds_documents(at->path())) {
      files.push_back(at->path());
    }
  }
  if (failed) {
    throw_data("--input {}: cannot read the folder: {}", folder, failed.message());
  }
  if (files.empty()) {
    throw_data(
        "--input {}: the folder holds no .jsonl, .json, .ndjson or .txt file (also with .gz or "
        ".zst); name the files, or a pattern",
        folder);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> files_like(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  if (files.empty()) {
    throw_data("--input {}: no file matches the pattern", pattern);
  }
  return files;
}

std::vector<std::string> files_of(const std::string& input) {
  if (input == "-" || fs::is_regular_file(input)) {
    return {input};
  }
  if (fs::is_directory(input)) {
    return files_below(input);
  }
  if (!fs::exists(input) && input.find_first_of("*?[") != std::string::npos) {
    return files_like(input);
  }
  return {input};  // a pipe, or what the reader reports as missing
}

}  // namespace

std::vector<std::string> find_input_files(const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  std::set<std::string> seen;
  for (const std::string& input : inputs) {
    for (std::string& file : files_of(input)) {
      if (!seen.insert(file).second) {
        throw_usage("--input names {} twice; its documents would be written twice", file);
      }
      files.push_back(std::move(file));
    }
  }
  return files;
}

void refuse_to_replace(const std::vector<std::string>& inputs, const std::string& option,
                       const std::string& output) {
  for (const std::string& input : inputs) {
    std::error_code absent;
    if (fs::equivalent(input, output, absent)) {
      throw_usage("{} {}: is read as {}, which it would replace; name another file", option, output,
                  input);
    }
  }
}

}  // namespace mpitron::data
