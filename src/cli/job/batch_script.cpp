#include "cli/job/batch_script.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "utils/error.h"

// The sbatch script that `mpitron job write` prints. It asks Slurm for USR1 some minutes before the
// time limit, on which a run saves and is queued again.

namespace mpitron::cli {
namespace {

constexpr std::size_t kColumns = 120;

Index ranks_of_node(const BatchJob& job) {
  return std::min(job.ranks, job.ranks_per_node);
}

Index cores_of_rank(const BatchJob& job, const Cluster& cluster) {
  return cluster.cores_per_node / job.ranks_per_node;
}

/// The flags, as many on a line as fit, each with its values.
std::string flag_lines(const Arguments& flags) {
  std::string text;
  std::string line = " ";
  for (std::size_t begin = 0, end = 0; begin < flags.size(); begin = end) {
    std::string words = " " + shell_word(flags[begin]);
    for (end = begin + 1; end < flags.size() && !flags[end].starts_with("--"); ++end) {
      words += " " + shell_word(flags[end]);
    }
    if (line.size() > 1 && line.size() + words.size() > kColumns) {
      text += line + "\n";
      line = " ";
    }
    line += words;
  }
  return text + line + "\n";
}

/// Options of #SBATCH for nodes, tasks, cores and GPUs; whole nodes are asked for exclusively.
std::string resources(const BatchJob& job, const Cluster& cluster) {
  std::string text =
      fmt::format("--nodes={} --ntasks-per-node={}", job.nodes(), ranks_of_node(job));
  if (cluster.cores_per_node > 0) {
    text += fmt::format(" --cpus-per-task={}", cores_of_rank(job, cluster));
  }
  if (job.on_gpus) {
    text += fmt::format(" --gpus-per-node={}", ranks_of_node(job));
  }
  return job.ranks >= job.ranks_per_node ? text + " --exclusive" : text;
}

}  // namespace

void check_fits(const BatchJob& job, const Cluster& cluster) {
  if (cluster.max_nodes > 0 && job.nodes() > cluster.max_nodes) {
    throw_usage(
        "{} ranks on nodes of {} need {} nodes; cluster {} gives a job at most {} (max_nodes): at "
        "most --world-size {}",
        job.ranks, job.ranks_per_node, job.nodes(), job.cluster, cluster.max_nodes,
        cluster.max_nodes * job.ranks_per_node);
  }
  if (job.on_gpus && job.ranks_per_node > cluster.gpus_per_node) {
    throw_usage("--ranks-per-node {}: a node of cluster {} has {} GPUs, and each rank needs one",
                job.ranks_per_node, job.cluster, cluster.gpus_per_node);
  }
  if (cluster.cores_per_node > 0 && cores_of_rank(job, cluster) < 1) {
    throw_usage("--ranks-per-node {}: a node of cluster {} has {} cores (cores_per_node)",
                job.ranks_per_node, job.cluster, cluster.cores_per_node);
  }
}

std::string batch_script(const BatchJob& job, const Cluster& cluster) {
  std::string text = fmt::format(
      "#!/usr/bin/env bash\n"
      "# Written by `mpitron job write`: {} ranks = {}, on {} node{} of {}.\n"
      "#SBATCH --job-name={} --output=%x-%j.out --open-mode=append\n"
      "#SBATCH {}\n"
      "#SBATCH --time={} --requeue --signal=B:USR1@300\n",
      job.ranks, job.layout, job.nodes(), job.nodes() > 1 ? "s" : "", ranks_of_node(job), job.name,
      resources(job, cluster), job.time_limit);
  if (!cluster.sbatch_flags.empty()) {
    text += fmt::format("#SBATCH {}\n", fmt::join(cluster.sbatch_flags, " "));
  }
  return text + fmt::format(
                    "export MPITRON_CLUSTER=${{MPITRON_CLUSTER:-{}}}\n"
                    "flags=(\n{})\n"
                    "home={}\n"
                    "exec \"${{MPITRON_HOME:-$home}}/jobs/supervise.sh\" {} \"${{flags[@]}}\"\n",
                    shell_word(job.cluster), flag_lines(job.flags), shell_word(job.home),
                    job.command);
}

std::string shell_word(const std::string& word) {
  const std::string plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
    return word;
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

}  // namespace mpitron::cli
