#pragma once
#include <charconv>
#include <optional>

#include <sys/stat.h>

#include "io/archives/tar_members.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/text/hash.h"

namespace mpitron::data {

// Where the members of a shard lie: a file of lines, since a tar has to be walked through from
// header to header.

inline constexpr std::string_view kShardIndexFormat = "mpitron tar index 1";

/// Returns the first line of the index of a shard as it is now: its size and the time of its last
/// change.
inline std::string shard_index_title(const MappedFile& shard) {
  struct stat status = {};
  ::stat(shard.path().c_str(), &status);
  return fmt::format("{} {} {}.{:09}\n", kShardIndexFormat, shard.bytes().size(),
                     static_cast<std::int64_t>(status.st_mtim.tv_sec),
                     static_cast<std::int64_t>(status.st_mtim.tv_nsec));
}

/// Returns where the index lies; in another folder shards of the same name have indices of their
/// own.
inline std::filesystem::path shard_index_path(const std::filesystem::path& shard,
                                              const std::filesystem::path& folder) {
  if (folder.empty()) {
    return shard.string() + ".index";
  }
  const std::string place = std::filesystem::weakly_canonical(shard).string();
  return folder / fmt::format("{}.{:016x}.index", shard.filename().string(), hash64(place));
}

/// Reads "OFFSET BYTES NAME"; nothing for other lines and for places outside of the shard.
inline std::optional<io::TarMember> shard_member_of(std::string_view line, Index archive_bytes) {
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
inline std::optional<std::vector<io::TarMember>> read_shard_index(const std::filesystem::path& path,
                                                                  const MappedFile& shard) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return std::nullopt;
  }
  const std::string text = read_file(path), title = shard_index_title(shard);
  if (!text.starts_with(title) || !text.ends_with('\n')) {
    return std::nullopt;
  }
  std::vector<io::TarMember> members;
  std::string_view rest = std::string_view(text).substr(title.size());
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    auto member = shard_member_of(rest.substr(0, end), static_cast<Index>(shard.bytes().size()));
    if (!member) {
      return std::nullopt;
    }
    members.push_back(*std::move(member));
    rest.remove_prefix(end + 1);
  }
  return members;
}

/// Writes an index; where it cannot be written, headers are read again the next time.
inline void write_shard_index(const std::filesystem::path& path, const MappedFile& shard,
                              const std::vector<io::TarMember>& members) {
  std::string text = shard_index_title(shard);
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

}  // namespace mpitron::data
