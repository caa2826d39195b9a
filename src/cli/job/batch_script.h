#pragma once
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/job/cluster.h"

namespace mpitron::cli {

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
