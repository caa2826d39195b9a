#include "checkpoint/tools/strip_optimizer.h"

#include <algorithm>

#include "checkpoint/folders/verify.h"
#include "checkpoint/format/blocks.h"
#include "checkpoint/format/posix_file.h"
#include "utils/error.h"

// Takes the optimizer's state out of a checkpoint, which is needed only to go on with training from
// there.

namespace mpitron::checkpoint {
namespace {

std::vector<DataSet> without_optimizer(const File& file) {
  std::vector<DataSet> kept = file.data_sets();
  std::erase_if(kept,
                [](const DataSet& data_set) { return data_set.name.starts_with("optimizer/"); });
  return kept;
}

/// Verifies the extents that are kept: nothing that is damaged may get a new seal.
void check_bytes(const File& file, const std::vector<DataSet>& data_sets) {
  std::vector<Index> extents;
  for (std::size_t i = 0; i < file.extents().size(); ++i) {
    const Extent& extent = file.extents()[i];
    if (std::ranges::any_of(data_sets, [&](const DataSet& data_set) {
          return extent.offset < data_set.offset + data_set.bytes() &&
                 data_set.offset < extent.offset + extent.bytes;
        })) {
      extents.push_back(static_cast<Index>(i));
    }
  }
  if (const std::string damage = damage_text(file, verify_extents(file, extents).damaged);
      !damage.empty()) {
    throw_data("{}", damage);
  }
}

std::vector<Extent> copy(const File& from, const std::vector<DataSet>& data_sets,
                         const std::filesystem::path& to, const std::vector<DataSet>& places) {
  const StoredBytes stored(from.storage());
  PosixFile file(to, PosixFile::Mode::modify);
  std::vector<Extent> extents;
  for (const Block& block : blocks_of(data_sets)) {
    const std::string bytes = read_block(stored, data_sets[block.data_set], block);
    const DataSet& place = places[block.data_set];
    const Extent extent{
        .offset = place.offset + block.begin * static_cast<Index>(size_of(place.dtype)),
        .bytes = static_cast<Index>(bytes.size()),
        .hash = hash128(bytes)};
    file.write(extent.offset, bytes.data(), extent.bytes);
    extents.push_back(extent);
  }
  file.sync();
  return extents;
}

}  // namespace

bool strip_optimizer(const Folder& folder, Index iteration) {
  const File file(folder.file(iteration));
  const std::vector<DataSet> kept = without_optimizer(file);
  if (kept.size() == file.data_sets().size()) {
    return false;
  }
  check_bytes(file, kept);
  Header header = file.header();
  header.schema_version = kSharedFileSchema;
  folder.begin(iteration);
  const std::filesystem::path path = folder.unfinished_file(iteration);
  const std::vector<DataSet> places = create_file(path, header, kept);
  seal_file(path, copy(file, kept, path, places));
  folder.put(iteration);
  return true;
}

std::vector<Index> strip_older_than(const Folder& folder, Index keep_last, Index newest) {
  const std::vector<Index> older = folder.unnamed(folder.before_last(keep_last, newest));
  std::vector<Index> stripped;
  for (auto i = older.rbegin(); i != older.rend(); ++i) {
    // The first one without the state ends it: those before it lost theirs in earlier calls.
    if (!strip_optimizer(folder, *i)) {
      break;
    }
    stripped.push_back(*i);
  }
  return stripped;
}

}  // namespace mpitron::checkpoint
