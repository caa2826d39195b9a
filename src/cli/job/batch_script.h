#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/command.h"
#include "utils/numbers/shape.h"

namespace mpitron::cli {

/// A site's machines, as its file (jobs/clusters/NAME.sh, read by a shell) describes them.
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
/// Returns the values of such a file. Error(usage) where one of them is no number.
Cluster read_cluster(const std::filesystem::path& file);

/// A training as a batch job.
struct BatchJob {
  std::string name;
  std::string command;  // "pretrain-gpt"
  Arguments flags;      // of the training, as the user gave them
  std::string layout;   // "8 tensor x 1 context x 8 data x 16 pipeline"
  Index ranks = 1;
  Index ranks_per_node = 1;
  bool on_gpus = false;  // ask for one of each rank
  std::string cluster;   // as MPITRON_CLUSTER names it
  std::string home;      // the folder that holds jobs/
  std::string time_limit;

  Index nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
};

/// Error(usage) with numbers where the cluster has too few nodes, GPUs or cores for the job.
void check_fits(const BatchJob& job, const Cluster& cluster);

/// The sbatch script: what the job needs, the flags, and jobs/supervise.sh, which checks the flags
/// again before any rank starts.
std::string batch_script(const BatchJob& job, const Cluster& cluster);

/// The word as a shell reads it back: quoted where it must be.
std::string shell_word(const std::string& word);

}  // namespace mpitron::cli
