#pragma once
#include <string>
#include <vector>

#include "utils/numbers/shape.h"
#include "utils/system/files.h"

namespace mpitron::io {

/// A regular file in a tar archive: its bytes lie there as they are.
struct TarMember {
  std::string name;
  Index offset = 0;  // of its first byte in the archive
  Index bytes = 0;

  bool operator==(const TarMember&) const = default;
};

/// The regular files of an archive, in its order: POSIX ustar and pax (IEEE 1003.1-2017), and GNU
/// with long names. Folders, links and devices are passed over. Error(data) with the byte where the
/// archive is damaged, truncated, compressed or something else.
std::vector<TarMember> tar_members(const MappedFile& archive);

}  // namespace mpitron::io
