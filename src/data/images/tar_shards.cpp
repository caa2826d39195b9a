#include "data/images/tar_shards.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "data/images/shard_index.h"
#include "utils/error.h"

// Reads shards as webdataset writes them: members that follow each other and differ in their ending
// belong to one sample. Offsets are kept in an index beside the shard, since a tar has to be walked
// through from header to header.

namespace mpitron::data {
namespace {

namespace fs = std::filesystem;

std::string in_small_letters(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

std::vector<fs::path> shards_of(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    return path.extension() == ".tar" ? std::vector{path} : std::vector<fs::path>();
  }
  std::vector<fs::path> shards;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    if (entry.path().extension() == ".tar") {
      shards.push_back(entry.path());
    }
  }
  std::ranges::sort(shards, {}, [](const fs::path& shard) { return shard.native(); });
  return shards;
}

TarShards::TarShards(const fs::path& path, const fs::path& index_folder) {
  for (const fs::path& shard : shards_of(path)) {
    const MappedFile& file = shards_.emplace_back(shard);
    const fs::path index = shard_index_path(shard, index_folder);
    std::optional<std::vector<io::TarMember>> members = read_shard_index(index, file);
    if (!members) {
      members = io::tar_members(file);
      write_shard_index(index, file, *members);
    }
    add_samples(shards_.size() - 1, *members);
  }
  if (samples_.empty()) {
    throw_data("{}: {} shards (.tar) and no file in them", path.string(), shards_.size());
  }
}

void TarShards::add_samples(std::size_t shard, const std::vector<io::TarMember>& members) {
  for (const io::TarMember& member : members) {
    const std::string& name = member.name;
    const std::size_t base = name.rfind('/') + 1;  // 0 where there is none
    const std::size_t dot = name.find('.', base);
    if (dot == base || dot == std::string::npos) {
      continue;  // hidden, or of no kind
    }
    const std::string_view key = std::string_view(name).substr(0, dot);
    if (samples_.empty() || samples_.back().shard != shard || samples_.back().key != key) {
      samples_.push_back({.shard = shard, .key = std::string(key), .parts = {}});
    }
    samples_.back().parts.push_back(
        {in_small_letters(std::string_view(name).substr(dot + 1)), member.offset, member.bytes});
  }
}

std::string TarShards::name(const Sample& sample) const {
  return shards_[sample.shard].path().string() + ", " + sample.key;
}

std::string_view TarShards::bytes(const Sample& sample, const Part& part) const {
  return shards_[sample.shard].text().substr(static_cast<std::size_t>(part.offset),
                                             static_cast<std::size_t>(part.bytes));
}

const TarShards::Part* TarShards::find(const Sample& sample,
                                       std::span<const std::string_view> endings) {
  const auto part = std::ranges::find_if(sample.parts, [&](const Part& each) {
    return std::ranges::find(endings, each.ending) != endings.end();
  });
  return part == sample.parts.end() ? nullptr : &*part;
}

}  // namespace mpitron::data
