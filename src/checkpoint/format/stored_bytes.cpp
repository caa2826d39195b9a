#include "checkpoint/format/stored_bytes.h"

#include <algorithm>

#include "checkpoint/format/seal.h"
#include "utils/check.h"

// Shows one or several files as one row of offsets: a reader of a checkpoint need not know whether
// ranks shared a file or wrote one each.

namespace mpitron::checkpoint {
namespace {

/// Files held open, well below what a process may have.
constexpr std::size_t kMostOpen = 256;

}  // namespace

const StoredRange& Storage::at(Index offset) const {
  const auto behind =
      std::partition_point(ranges.begin(), ranges.end(),
                           [offset](const StoredRange& range) { return range.begin <= offset; });
  MPITRON_CHECK(behind != ranges.begin(), offset);
  const StoredRange& range = *std::prev(behind);
  MPITRON_CHECK(offset < range.begin + range.bytes, offset, range.begin, range.bytes);
  return range;
}

template <class Visit>
void StoredBytes::for_each_part(Index offset, Index bytes, Visit&& visit) const {
  while (bytes > 0) {
    const StoredRange& range = storage_.at(offset);
    const Index before = offset - range.begin;
    const Index part = std::min(bytes, range.bytes - before);
    visit(*open(range.file), range.offset + before, part);
    offset += part;
    bytes -= part;
  }
}

void StoredBytes::read(Index offset, void* data, Index bytes) const {
  auto* to = static_cast<std::byte*>(data);
  for_each_part(offset, bytes, [&](const PosixFile& file, Index at, Index part) {
    file.read(at, to, part);
    to += part;
  });
}

Hash128 StoredBytes::hash(Index offset, Index bytes) const {
  const StoredRange& range = storage_.at(offset);
  const Index before = offset - range.begin;
  MPITRON_CHECK(bytes <= range.bytes - before, offset, bytes);
  return hash_bytes(*open(range.file), range.offset + before, bytes);
}

std::shared_ptr<const PosixFile> StoredBytes::open(Index file) const {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(file);
  if (found != open_.end()) {
    return found->second;
  }
  if (open_.size() == kMostOpen) {
    open_.clear();
  }
  const auto opened = std::make_shared<const PosixFile>(
      storage_.files[static_cast<std::size_t>(file)], PosixFile::Mode::read);
  open_.emplace(file, opened);
  return opened;
}

}  // namespace mpitron::checkpoint
