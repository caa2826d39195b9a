#include "data/images/tar_shards.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include <sys/stat.h>

#include "utils/error.h"
#include "utils/log.h"
#include "utils/text/hash.h"

// Reads shards as webdataset writes them: members that follow each other and differ in their ending
// belong to one sample. Offsets are kept in an index beside the shard, since a tar has to be walked
// through from header to header.

namespace mpitron::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexFormat = "mpitron tar index 1";

/// Returns the first line of the index of a shard as it is now: its size and the time of its last
/// change.
std::string index_title(const MappedFile& shard) {
  struct stat status = {};
  ::stat(shard.path().c_str(), &status);
  return fmt::format("{} {} {}.{:09}\n", kIndexFormat, shard.bytes().size(),
                     static_cast<std::int64_t>(status.st_mtim.tv_sec),
                     static_cast<std::int64_t>(status.st_mtim.tv_nsec));
}

/// Returns where the index lies; in another folder shards of the same name have indices of their
/// own.
fs::path index_path(const fs::path& shard, const fs::path& folder) {
  if (folder.empty()) {
    return shard.string() + ".index";
  }
  const std::string place = fs::weakly_canonical(shard).string();
  return folder / fmt::format("{}.{:016x}.index", shard.filename().string(), hash64(place));
}

/// Reads "OFFSET BYTES NAME"; nothing for other lines and for places outside of the shard.
std::optional<io::TarMember> member_of(std::string_view line, Index archive_bytes) {
  io::TarMember member;
  for (Index* number : {&member.offset, &member.bytes}) {
    const auto [end, error] = std::from_chars(line.begin(), line.end(), *number);
    if (error != std::errc() || end == line.end() || *end != ' ' || *number < 0) {
      return std::nullopt;
    }
    line.remove_prefix(static_cast<std::size_t>(end - line.begin()) + 1);
  }
  member.name = line;
  const bool inside =
      member.offset <= archive_bytes && member.bytes <= archive_bytes - member.offset;
  return inside ? std::optional(std::move(member)) : std::nullopt;
}

/// Reads an index; nothing where there is none, or one of another state of the shard.
std::optional<std::vector<io::TarMember>> read_index(const fs::path& path,
                                                     const MappedFile& shard) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) {
    return std::nullopt;
  }
  const std::string text = read_file(path), title = index_title(shard);
  if (!text.starts_with(title) || !text.ends_with('\n')) {
    return std::nullopt;
  }
  std::vector<io::TarMember> members;
  std::string_view rest = std::string_view(text).substr(title.size());
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    auto member = member_of(rest.substr(0, end), static_cast<Index>(shard.bytes().size()));
    if (!member) {
      return std::nullopt;
    }
    members.push_back(*std::move(member));
    rest.remove_prefix(end + 1);
  }
  return members;
}

/// Writes an index; where it cannot be written, headers are read again the next time.
void write_index(const fs::path& path, const MappedFile& shard,
                 const std::vector<io::TarMember>& members) {
  std::string text = index_title(shard);
  for (const io::TarMember& member : members) {
    if (member.name.find('\n') != std::string::npos) {
      return;
    }
    text += fmt::format("{} {} {}\n", member.offset, member.bytes, member.name);
  }
  try {
    AtomicFile file(path);
    file.write(text);
    file.commit();
  } catch (const Error& error) {
    log::info("no index of {} is kept, its headers are read again the next time: {}",
              shard.path().string(), error.what());
  }
}

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
    const fs::path index = index_path(shard, index_folder);
    std::optional<std::vector<io::TarMember>> members = read_index(index, file);
    if (!members) {
      members = io::tar_members(file);
      write_index(index, file, *members);
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
