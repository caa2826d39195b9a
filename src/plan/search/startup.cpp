#include "plan/search/startup.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "train/model/rank_layout.h"

// Time from the launcher to the end of the first step, phase by phase: linear in nodes where a
// service handles them one after the other, logarithmic where trees do.

namespace mpitron::plan {
namespace {

/// Groups of expert parallel ranks that have communicators, by axes of their grid.
constexpr train::NamedAxes kExpertGroups[] = {
    {"expert", "ep"}, {"expert tensor", "tp"}, {"expert data", "dp"}};

/// Steps of a binary tree over the ranks.
double tree_seconds(double ranks, double once) {
  return once * std::ceil(std::log2(std::max(2.0, ranks)));
}

}  // namespace

std::vector<Communicator> communicators(const Job& job) {
  const comm::RankGrid grid = train::make_rank_grid(job.run.parallel, job.run.parallel.world_size);
  std::vector<Communicator> result;
  const auto add = [&](const comm::Grid& part, const train::NamedAxes& named) {
    const std::size_t size = part.group_of(0, comm::AxisSet::parse(named.axes)).size();
    if (size > 1) {
      result.push_back({named.name, static_cast<double>(size)});
    }
  };
  for (const train::NamedAxes& named : train::kDenseGroups) {
    add(grid.dense(), named);
  }
  for (const train::NamedAxes& named : kExpertGroups) {
    if (job.run.model.moe) {
      add(grid.expert(), named);
    }
  }
  if (job.ranks() > 1) {
    result.push_back({"world", job.ranks()});
  }
  return result;
}

double communicator_bytes(const Machine& machine, const Job& job) {
  return machine.communicator_memory * static_cast<double>(communicators(job).size());
}

std::vector<StartupPhase> startup_phases(const Machine& machine, const Job& job,
                                         const StartupInputs& inputs) {
  const double ranks = job.ranks(), nodes = std::max(1.0, std::ceil(ranks / machine.node_gpus));
  std::vector<StartupPhase> phases;
  phases.push_back({"launcher", machine.task_seconds * nodes,
                    fmt::format("{:.0f} nodes, one after the other", nodes)});
  const double opens = inputs.program_files * nodes;  // the node's page cache serves its ranks
  phases.push_back(
      {"program and libraries",
       std::max(opens / machine.metadata_rate, inputs.program_files * machine.open_seconds) +
           inputs.program_bytes * nodes / machine.storage_read,
       fmt::format("{:.0f} files opened, {:.1f} GB read", opens,
                   inputs.program_bytes * nodes / 1e9)});
  phases.push_back({"addresses (PMIx)", tree_seconds(nodes, 0.05) + ranks * 2e-5,
                    fmt::format("{:.0f} ranks", ranks)});
  double connecting = 0;
  const std::vector<Communicator> groups = communicators(job);
  for (const Communicator& group : groups) {
    connecting += machine.communicator_seconds +
                  machine.communicator_doubling * std::log2(std::max(1.0, group.ranks / 8));
  }
  phases.push_back({"communicators", connecting,
                    fmt::format("{} of a rank, {:.2f} GB of its memory", groups.size(),
                                communicator_bytes(machine, job) / 1e9)});
  const double data_opens = inputs.data_files * nodes;
  phases.push_back(
      {"data sets",
       std::max(data_opens / machine.metadata_rate, inputs.data_files * machine.open_seconds),
       fmt::format("{:.0f} files opened, shared on a node", data_opens)});
  const double bytes = inputs.checkpoint_bytes > 0 ? inputs.checkpoint_bytes : 18 * job.weights();
  phases.push_back({"checkpoint", bytes / machine.storage_read + nodes / machine.metadata_rate,
                    fmt::format("{:.0f} GB, {:.2f} a rank", bytes / 1e9, bytes / ranks / 1e9)});
  phases.push_back({"first step", machine.warm_up_seconds, "graphs, kernels chosen"});
  return phases;
}

}  // namespace mpitron::plan
