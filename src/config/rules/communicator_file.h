#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mpitron::config {

/// Limits of what NCCL may take of a GPU for one group; absent ones are left to NCCL.
struct CommunicatorLimits {
  std::optional<int> min_ctas, max_ctas, cga_cluster_size;
  std::string net_name;  // "IB", "socket" or empty
};

/// A word for groups of ranks in --high-priority-stream-groups and in the file of
/// --nccl-communicator-config-path, as the reference has them, and a group of the program that it
/// stands for ("" where it needs none; a word may stand for several).
struct CommunicatorGroup {
  std::string_view word, group;
};
std::span<const CommunicatorGroup> communicator_groups();
bool is_communicator_group(std::string_view word);
/// Returns all words, separated by blanks.
std::string communicator_group_words();

/// The file of --nccl-communicator-config-path: YAML, a map of groups, each a map of min_ctas,
/// max_ctas, cga_cluster_size, net_name.
struct CommunicatorFile {
  std::map<std::string, CommunicatorLimits> groups;  // by word
  std::string problem;                               // empty: all is right
};
/// Reads the file; its mistakes are in `problem`.
CommunicatorFile read_communicator_file(const std::string& path);

}  // namespace mpitron::config
