#pragma once
#include "cli/commands.h"
#include "comm/groups/world.h"
#include "comm/watch/watchdog.h"
#include "utils/trace.h"

namespace mpitron::cli {

/// The number of ranks that the launcher tells in the environment; 1 where it tells none.
Index presumed_ranks();

/// The ranks of this command: those that mpirun or srun started, else this process alone. From here
/// on only rank 0 prints results. `timeout_minutes`: --distributed-timeout-minutes.
/// `trace`: gets this rank's operations while it records. `last_words`: hears how the job ended.
std::unique_ptr<comm::World> launch_world(double timeout_minutes = 10,
                                          std::shared_ptr<Trace> trace = nullptr,
                                          std::shared_ptr<comm::LastWords> last_words = nullptr);

/// Once, in the log of rank 0: where all ranks are, with which GPUs, and what slows them down
/// there. `gpu`: this rank's, empty without one. Collective.
void tell_places(comm::World& world, const std::string& gpu = "");

}  // namespace mpitron::cli
