#include <algorithm>
#include <charconv>
#include <sstream>

#include <fmt/ranges.h>

#include "cli/job/batch_script.h"
#include "utils/error.h"
#include "utils/system/machine.h"

// Files that say what a cluster wants in a job's script. Each is a bash script that sets variables,
// so bash reads it, and its values and flags come back a line each.

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

}  // namespace mpitron::cli
