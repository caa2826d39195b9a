#include <array>

#include <fmt/format.h>

#include "config/rules/communicator_file.h"
#include "config/rules/constraint.h"

// Rules on NCCL, switches and registered buffers. A word that names no group would have no effect,
// so each is checked.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result communicator_file(const Facts& f) {
  const std::optional<std::string>& path = f.run.parallel.nccl_communicator_config_path;
  const std::string problem = path ? read_communicator_file(*path).problem : "";
  return problem.empty() ? Result() : Violation{problem, ""};
}

Result stream_groups(const Facts& f) {
  for (const std::string& word : f.run.parallel.high_priority_stream_groups) {
    if (!is_communicator_group(word)) {
      return Violation{fmt::format("{} is none of {}", word, communicator_group_words()),
                       "--high-priority-stream-groups dp_cp ep_dp"};
    }
  }
  return {};
}

Result stage_messages(const Facts& f) {
  return f.values.maybe_text("pipeline_model_parallel_comm_backend").value_or("nccl") == "nccl"
             ? Result()
             : Violation{"ucc", "--pipeline-model-parallel-comm-backend nccl"};
}

Result switches(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  if (f.values.given("sharp_enabled_group") && !f.values.flag("use_sharp")) {
    return Violation{"sharp_enabled_group without use_sharp", "--use-sharp"};
  }
  if (p.sharp_enabled_group && p.distributed_backend != DistributedBackend::nccl) {
    return Violation{"distributed_backend = mpi", "--distributed-backend nccl"};
  }
  if (p.sharp_enabled_group == "dp_replica" && p.num_distributed_optimizer_instances < 2) {
    return Violation{"one instance of the optimizer", "--sharp-enabled-group dp"};
  }
  return {};
}

Result user_buffers(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  return p.nccl_ub && p.distributed_backend != DistributedBackend::nccl
             ? Violation{"distributed_backend = mpi", "--distributed-backend nccl"}
             : Result();
}

constexpr std::array kTransportRules = std::to_array<Constraint>({
    {"E175", "communicator_file", "a YAML file of groups and what NCCL may take for each",
     "nccl-communicator-config-path",
     "A limit that is misspelled would silently not hold: every group and every field is read.",
     communicator_file},
    {"E176", "stream_groups", "every word names groups of ranks", "high-priority-stream-groups",
     "A group that is misspelled would silently keep its ordinary stream.", stream_groups},
    {"E177", "stage_messages", "pipeline_model_parallel_comm_backend == nccl",
     "pipeline-model-parallel-comm-backend",
     "Stages send by the library that all groups use; UCC is not linked.", stage_messages},
    {"E209", "switches",
     "--use-sharp goes with NCCL; its group dp_replica with several instances of the optimizer",
     "use-sharp sharp-enabled-group distributed-backend num-distributed-optimizer-instances",
     "NCCL alone uses the switches, for a group that there is.", switches},
    {"E217", "user_buffers", "--use-nccl-ub goes with NCCL", "use-nccl-ub distributed-backend",
     "Nobody else has memory to be registered with.", user_buffers},
});

}  // namespace

std::span<const Constraint> transport_constraints() {
  return kTransportRules;
}

}  // namespace mpitron::config
