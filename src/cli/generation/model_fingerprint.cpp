#include "cli/generation/model_fingerprint.h"

#include <algorithm>
#include <vector>

#include "cli/checkpoint_path.h"
#include "convert/formats/format.h"
#include "utils/system/files.h"
#include "utils/text/hash.h"

// Digests that tell whether a journal of answers belongs to the model at hand. Weights of a hundred
// gigabytes are sampled: reading them whole would take longer than many batches of answers.

namespace mpitron::cli {
namespace {

namespace fs = std::filesystem;

/// Hashes pieces spread over the file, the last one its end; a small file as a whole. Weights of
/// another training differ everywhere.
void add_samples(Hasher128& hasher, std::string_view content) {
  constexpr std::size_t kPieces = 64, kPiece = std::size_t{16} << 10;
  if (content.size() <= kPieces * kPiece) {
    hasher.update(content);
    return;
  }
  for (std::size_t i = 0; i < kPieces; ++i) {
    hasher.update(content.substr((content.size() - kPiece) / (kPieces - 1) * i, kPiece));
  }
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

/// Hashes names relative to the folder, so that a moved folder keeps its fingerprint.
std::string fingerprint_of(const fs::path& folder, const std::vector<fs::path>& files) {
  Hasher128 hasher;
  for (const fs::path& path : files) {
    hasher.update(path.lexically_relative(folder).string());
    const auto size = static_cast<std::uint64_t>(fs::file_size(path));
    hasher.update({reinterpret_cast<const char*>(&size), sizeof(size)});
    if (size > 0) {
      add_samples(hasher, MappedFile(path).text());
    }
  }
  return hasher.digest().hex();
}

}  // namespace

std::string model_fingerprint(const fs::path& load) {
  const bool ours = convert::detect_format(load) == convert::Format::mpitron;
  return fingerprint_of(load, ours ? std::vector{checkpoint_file(load)} : files_below(load));
}

std::string folder_fingerprint(const fs::path& folder) {
  return fingerprint_of(folder, files_below(folder));
}

}  // namespace mpitron::cli
