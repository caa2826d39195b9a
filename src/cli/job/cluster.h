#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::cli {

/// What a site's file (jobs/clusters/NAME.sh, read by a shell) says of its machines.
struct Cluster {
  std::string launcher = "srun";
  Index gpus_per_node = 0;
  Index cores_per_node = 0;             // 0: not told
  Index max_nodes = 0;                  // of a job; 0: not told
  std::string time_limit = "24:00:00";  // as sbatch takes it
  std::vector<std::string> sbatch_flags;
};

/// `name`: of a file in `home`/jobs/clusters, or a path (with a slash). Error(usage) where there is
/// none, with the names that there are; Error(environment) where the shell cannot read it.
std::filesystem::path find_cluster(const std::string& name, const std::filesystem::path& home);
Cluster read_cluster(const std::filesystem::path& file);

}  // namespace mpitron::cli
