#include "checkpoint/folders/verify.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "checkpoint/format/on_all_cores.h"
#include "checkpoint/format/stored_bytes.h"
#include "utils/error.h"
#include "utils/timer.h"

// Compares what lies on the disk with the hashes that were noted when it was written, extent by
// extent on all cores, and says which data sets have a part of a damaged one.

namespace mpitron::checkpoint {
namespace {

/// Returns what is wrong with an extent; an empty text where the bytes are as they were written.
std::string difference(const StoredBytes& stored, const Extent& extent) {
  try {
    return stored.hash(extent.offset, extent.bytes) == extent.hash ? "" : kBytesDiffer;
  } catch (const Error& error) {
    return fmt::format("cannot be read: {}", error.what());
  }
}

}  // namespace

std::string Damage::sentence() const {
  return fmt::format("{}: bytes {} to {} of {} {}", data_set, offset, offset + bytes - 1,
                     file.empty() ? "the file" : file, reason);
}

std::vector<Damage> damages(const File& file, const Extent& extent, const std::string& reason) {
  std::vector<Damage> result;
  for (const DataSet& data_set : file.data_sets()) {
    const Index begin = std::max(data_set.offset, extent.offset);
    const Index end = std::min(data_set.offset + data_set.bytes(), extent.offset + extent.bytes);
    if (begin < end) {
      const StoredRange& range = file.storage().at(begin);
      const std::filesystem::path& path =
          file.storage().files[static_cast<std::size_t>(range.file)];
      result.push_back({.data_set = data_set.name,
                        .file = path == file.path() ? "" : path.filename().string(),
                        .offset = range.offset + (begin - range.begin),
                        .bytes = end - begin,
                        .reason = reason});
    }
  }
  return result;
}

std::string damage_text(const File& file, const std::vector<Damage>& damaged) {
  if (damaged.empty()) {
    return "";
  }
  const std::size_t others = damaged.size() - 1;
  return fmt::format("{}: is damaged: {}{}", file.path().string(), damaged[0].sentence(),
                     others > 0 ? fmt::format(", and {} more", others) : "");
}

Verification verify(const File& file, const VerifyProgress& progress) {
  std::vector<Index> all(file.extents().size());
  std::iota(all.begin(), all.end(), Index{0});
  return verify_extents(file, all, progress);
}

Verification verify_extents(const File& file, const std::vector<Index>& extents,
                            const VerifyProgress& progress) {
  const StoredBytes stored(file.storage());
  const Timer timer;
  Index all = 0;
  for (const Index i : extents) {
    all += file.extents()[static_cast<std::size_t>(i)].bytes;
  }
  std::mutex mutex;
  Verification result;
  on_all_cores(static_cast<Index>(extents.size()), [&](Index i) {
    const Index index = extents[static_cast<std::size_t>(i)];
    const Extent& extent = file.extents()[static_cast<std::size_t>(index)];
    const std::string reason = difference(stored, extent);
    const std::lock_guard lock(mutex);
    if (!reason.empty()) {
      const std::vector<Damage> found = damages(file, extent, reason);
      result.damaged.insert(result.damaged.end(), found.begin(), found.end());
    }
    result.bytes += extent.bytes;
    if (progress) {
      progress(result.bytes, all, timer.seconds());
    }
  });
  // Threads end in any order; a report must not.
  std::sort(result.damaged.begin(), result.damaged.end(), [](const Damage& a, const Damage& b) {
    return std::tie(a.file, a.offset) < std::tie(b.file, b.offset);
  });
  result.seconds = timer.seconds();
  return result;
}

}  // namespace mpitron::checkpoint
