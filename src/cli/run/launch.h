#pragma once
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "comm/groups/device_world.h"
#include "comm/groups/world.h"
#include "comm/watch/watchdog.h"
#include "config/parallel_config.h"
#include "config/parse/parse.h"
#include "utils/trace.h"

namespace mpitron::cli {

/// The number of ranks that the launcher tells in the environment; 1 where it tells none.
Index presumed_ranks();

/// Returns the ranks of this command: those that mpirun or srun started, else this process alone.
/// From here on only rank 0 prints results. `timeout_minutes`: --distributed-timeout-minutes;
/// `trace` gets this rank's operations while it records; `on_failure` hears how the job ended.
/// Error(environment) where MPI cannot connect the ranks.
std::unique_ptr<comm::World> launch_world(
    double timeout_minutes = 10, std::shared_ptr<Trace> trace = nullptr,
    std::shared_ptr<comm::FailureHandler> on_failure = nullptr);

/// Logs once, on rank 0, where all ranks are, with which GPUs, and what slows them down there.
/// `gpu`: this rank's, empty without one. Collective.
void tell_places(comm::World& world, const std::string& gpu = "");

/// Makes the device that `--device` names; rank 0 logs why that is the host where "auto" could have
/// been a GPU. Error(environment) where a GPU is wanted and there is none, or two ranks would share
/// one and `parallel` says that tensors travel by NCCL. Called by all ranks.
std::unique_ptr<device::Device> make_run_device(std::string_view wanted, comm::World& world,
                                                const config::ParallelConfig& parallel);

/// Returns how tensors of a GPU travel, from --distributed-backend, --use-nccl-ub,
/// --high-priority-stream-groups, --sharp-enabled-group and the file of
/// --nccl-communicator-config-path, for each group by its name.
comm::DeviceTransport device_transport(const config::ParallelConfig& parallel);

/// Returns what every rank of a run must have in common, a line for each: its options, the build
/// and the sizes of its corpora. Folders may lie elsewhere on each node and are left out.
std::string common_lines(const config::ParsedRun& parsed, const std::string& build);

/// Returns the first line in which two ranks differ, as "--lr: 0.001 on rank 0, 0.005 on rank 1";
/// empty where they agree.
std::string first_difference(const std::string& of_rank_0, const std::string& of_other,
                             Index other);

/// Compares these lines by one hash over all ranks; Error(usage) on all of them names the first
/// option that differs, since a rank with other options trains on without a word. Collective.
void require_agreement(comm::World& world, const std::string& lines);

}  // namespace mpitron::cli
