#include "config/rules/communicator_file.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "utils/error.h"
#include "utils/system/files.h"

// The file of --nccl-communicator-config-path (YAML), and the table that maps Megatron's words for
// groups of ranks to this program's. Mistakes in the file name its line.

namespace mpitron::config {
namespace {

/// Words of the reference, from get_nccl_options(...) in megatron/core/parallel_state.py.
constexpr std::array kGroups = std::to_array<CommunicatorGroup>({
    {"dp", "data"},
    {"dp_cp", "data_context"},
    {"intra_dp_cp", "parameters_instance_0"},
    {"inter_dp_cp", "parameters_instance_1"},
    {"cp", "context"},
    {"hcp", "context_level_0"},
    {"hcp", "context_level_1"},
    {"mp", "model"},
    {"tp", "tensor"},
    {"pp", "pipeline"},
    {"pp", "pipeline-activations"},
    {"pp", "pipeline-gradients"},
    {"embd", "embedding"},
    {"pos_embd", "position_embedding"},
    {"tp_dp_cp", "tensor_data_context"},
    {"tp_dp", "tensor_data"},
    {"tp_cp", "tensor_context"},
    {"ep", "expert"},
    {"ep_tp", "expert_tensor"},
    {"tp_ep_mp", "expert_layer"},
    {"tp_ep_pp", ""},
    {"ep_dp", "expert_data"},
    {"intra_ep_dp", "experts_instance_0"},
    {"inter_ep_dp", "experts_instance_1"},
    {"intra_dist_opt_instance", ""},
});

/// A mistake in the file, thrown to whoever reads it.
struct Problem {
  std::string text;
};

/// Reads a number from 0 on; anything else is a Problem with its line.
int whole_number(const YAML::Node& node, const std::string& name) {
  int number = 0;
  if (!YAML::convert<int>::decode(node, number) || number < 0) {
    throw Problem{
        fmt::format("line {}: {} wants a whole number from 0 on", node.Mark().line + 1, name)};
  }
  return number;
}

/// Reads fields as NCCL names them; an unknown one is a Problem.
CommunicatorLimits read_limits(const YAML::Node& fields) {
  CommunicatorLimits limits;
  for (const auto& field : fields) {
    const auto name = field.first.as<std::string>();
    if (name == "min_ctas") {
      limits.min_ctas = whole_number(field.second, name);
    } else if (name == "max_ctas") {
      limits.max_ctas = whole_number(field.second, name);
    } else if (name == "cga_cluster_size") {
      limits.cga_cluster_size = whole_number(field.second, name);
    } else if (name == "net_name") {
      limits.net_name = field.second.as<std::string>();
      if (limits.net_name != "IB" && limits.net_name != "socket") {
        throw Problem{fmt::format("line {}: net_name {} is neither IB nor socket",
                                  field.second.Mark().line + 1, limits.net_name)};
      }
    } else {
      throw Problem{
          fmt::format("line {}: {} is none of min_ctas, max_ctas, cga_cluster_size, net_name",
                      field.first.Mark().line + 1, name)};
    }
  }
  if (limits.min_ctas && limits.max_ctas && *limits.min_ctas > *limits.max_ctas) {
    throw Problem{fmt::format("line {}: min_ctas {} is more than max_ctas {}",
                              fields.Mark().line + 1, *limits.min_ctas, *limits.max_ctas)};
  }
  return limits;
}

/// Reads groups by the reference's words, which may stand for several of ours.
std::map<std::string, CommunicatorLimits> read_groups(const YAML::Node& root) {
  std::map<std::string, CommunicatorLimits> groups;
  if (!root.IsMap() && !root.IsNull()) {
    throw Problem{"line 1: expected lines of the form `group:` and below them its fields"};
  }
  for (const auto& entry : root) {
    const auto word = entry.first.as<std::string>();
    const int line = entry.first.Mark().line + 1;
    if (!is_communicator_group(word)) {
      throw Problem{fmt::format("line {}: {} is none of the groups {}", line, word,
                                communicator_group_words())};
    }
    if (!entry.second.IsMap()) {
      throw Problem{fmt::format("line {}: {} wants fields below it", line, word)};
    }
    groups[word] = read_limits(entry.second);
  }
  return groups;
}

}  // namespace

std::span<const CommunicatorGroup> communicator_groups() {
  return kGroups;
}

bool is_communicator_group(std::string_view word) {
  return std::ranges::find(kGroups, word, &CommunicatorGroup::word) != kGroups.end();
}

/// Lists each word once, for messages.
std::string communicator_group_words() {
  std::string words;
  std::string_view last;
  for (const CommunicatorGroup& group : kGroups) {
    if (group.word != last) {
      words += fmt::format("{}{}", words.empty() ? "" : " ", group.word);
    }
    last = group.word;
  }
  return words;
}

/// Throws nothing: a mistake in the file becomes `problem`, which a rule tells.
CommunicatorFile read_communicator_file(const std::string& path) {
  try {
    return {.groups = read_groups(YAML::Load(read_file(path))), .problem = ""};
  } catch (const Problem& problem) {
    return {.groups = {}, .problem = fmt::format("{}: {}", path, problem.text)};
  } catch (const YAML::Exception& error) {
    return {.groups = {},
            .problem = fmt::format("{}:{}: {}", path, error.mark.line + 1, error.msg)};
  } catch (const Error& error) {
    return {.groups = {}, .problem = error.what()};
  }
}

}  // namespace mpitron::config
