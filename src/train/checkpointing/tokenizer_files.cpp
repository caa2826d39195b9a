#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "train/checkpointing/load_differences.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/text/hash.h"

namespace mpitron::train {
namespace {

using Files = std::map<std::string, std::string>;

/// Identifies files by their bytes: the same files may have other names.
std::set<std::pair<std::uint64_t, std::uint64_t>> contents(const Files& files) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> hashes;
  for (const auto& [name, bytes] : files) {
    const Hash128 hash = hash128(bytes);
    hashes.emplace(hash.high, hash.low);
  }
  return hashes;
}

/// A converted model keeps all files of its folder, a run those of its tokenizer.
bool other_tokenizer(const Files& kept, const Files& files) {
  const auto there = contents(kept), here = contents(files);
  const bool converted = kept.contains("config.json");
  return !std::ranges::includes(there, here) || (!converted && !std::ranges::includes(here, there));
}

/// "vocab.json 1f0c..., merges.txt 22ab...".
std::string names(const Files& files) {
  std::string text;
  for (const auto& [name, bytes] : files) {
    const Hash128 hash = hash128(bytes);
    text += fmt::format("{}{} {:016x}{:016x}", text.empty() ? "" : ", ", name, hash.high, hash.low);
  }
  return text.empty() ? "no files" : text;
}

}  // namespace

std::map<std::string, std::string> tokenizer_files(const tokenizers::Tokenizer& tokenizer) {
  Files files;
  for (const std::filesystem::path& path : tokenizer.files()) {
    files.emplace(path.filename().string(), read_file(path));
  }
  return files;
}

/// Ids of another vocabulary are other words: the loss would start high, and nothing would say why.
void refuse_other_tokenizer(const checkpoint::File& checkpoint, const Files& files,
                            bool only_warn) {
  const Files& kept = checkpoint.header().files;
  if (kept.empty() || !other_tokenizer(kept, files)) {
    return;
  }
  const std::string text = fmt::format(
      "{}: was trained with another tokenizer: {} there, and here {}; give the files of the "
      "checkpoint (mpitron inspect PATH --extract-tokenizer DIR writes them)",
      checkpoint.path().string(), names(kept), names(files));
  if (!only_warn) {
    throw Error(ExitCode::data, text, true);
  }
  log::warning("{}", text);
}

}  // namespace mpitron::train
