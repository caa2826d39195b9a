#include "cli/job/batch_script.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <fmt/ranges.h>

#include "utils/error.h"
#include "utils/system/machine.h"

// The sbatch script that `mpitron job write` prints. A site's file is a bash script that sets
// variables, so bash reads it, and its values and flags come back a line each. The script asks
// Slurm for USR1 some minutes before the time limit, on which a run saves and is queued again.

namespace mpitron::cli {

namespace {

/// Behind whatever the file prints itself.
constexpr const char* kMark = "values:\n";

/// One value on each line, the flags last.
constexpr const char* kShow = R"(set -eu
launcher=srun gpus_per_node=0 cores_per_node=0 max_nodes=0 time_limit=24:00:00 sbatch_flags=()
. "$1"
printf '%s\n' values: "$launcher" "$gpus_per_node" "$cores_per_node" "$max_nodes" "$time_limit"
[ ${#sbatch_flags[@]} -eq 0 ] || printf '%s\n' "${sbatch_flags[@]}"
)";

/// Reads a whole number from 0 on; Error(usage) names file and variable.
Index read_count(const std::filesystem::path& file, const char* name, const std::string& text) {
  Index count = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0) {
    throw_usage("{}: {}={}: a whole number is needed", file.string(), name, text);
  }
  return count;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;  // no such folder: an empty list
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".sh") {
      names.push_back(entry.path().stem());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

/// A slash makes the name a path, as a shell tells commands from files.
std::filesystem::path find_cluster(const std::string& name, const std::filesystem::path& home) {
  const std::filesystem::path folder = home / "jobs" / "clusters";
  const bool is_path = name.find('/') != std::string::npos;
  const std::filesystem::path file =
      is_path ? std::filesystem::path(name) : folder / (name + ".sh");
  if (!is_path && !std::filesystem::is_directory(folder)) {
    throw_usage("--home {}: holds no jobs/clusters; name the folder of mpitron's sources",
                home.string());
  }
  if (!std::filesystem::is_regular_file(file)) {
    throw_usage("--cluster {}: there is no {}; {} has: {} (--home DIR names another repository)",
                name, file.string(), folder.string(), fmt::join(names_in(folder), ", "));
  }
  return file;
}

Cluster read_cluster(const std::filesystem::path& file) {
  const CommandOutput output =
      command_output({"bash", "-c", kShow, "cluster", std::filesystem::absolute(file).string()});
  if (output.code != 0) {
    throw_environment("{}: bash cannot read it: {}", file.string(), output.text);
  }
  std::vector<std::string> lines;
  const std::size_t mark = output.text.rfind(kMark);
  std::istringstream stream(
      mark == std::string::npos ? "" : output.text.substr(mark + std::string_view(kMark).size()));
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  constexpr std::size_t kValues = 5;
  if (lines.size() < kValues) {
    throw_environment("{}: bash printed {} values of {}: {}", file.string(), lines.size(), kValues,
                      output.text);
  }
  return {.launcher = lines[0],
          .gpus_per_node = read_count(file, "gpus_per_node", lines[1]),
          .cores_per_node = read_count(file, "cores_per_node", lines[2]),
          .max_nodes = read_count(file, "max_nodes", lines[3]),
          .time_limit = lines[4],
          .sbatch_flags = {lines.begin() + kValues, lines.end()}};
}

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
