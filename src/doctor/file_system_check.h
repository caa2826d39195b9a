#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "comm/groups/world.h"
#include "doctor/check_result.h"

namespace mpitron::doctor {

/// The folder where a run would write, and how fast all ranks together can.
struct FileSystemFacts {
  std::filesystem::path folder;
  std::string type;  // "ext4", "lustre", ...; a number where the name is not known
  Index bytes = 0;
  Index free = 0;
  std::string error;  // why nothing could be written; then the speeds are not known
  double shared_bytes_per_s = 0;
  double separate_bytes_per_s = 0;
};

/// Measures a folder. Every rank calls it; each writes `bytes_per_rank` twice (io-bench) and
/// removes it.
FileSystemFacts read_file_system(const std::filesystem::path& folder, comm::World& world,
                                 Index bytes_per_rank);

std::vector<CheckResult> check_file_system(const FileSystemFacts& facts);

}  // namespace mpitron::doctor
