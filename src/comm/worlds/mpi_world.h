#pragma once
#include <functional>
#include <memory>

#include "comm/groups/world.h"
#include "comm/watch/watchdog.h"
#include "launch/environment.h"
#include "utils/trace.h"

namespace mpitron::comm {

/// Tells whether mpirun or srun started this process as one of several (or one) ranks.
/// Error(environment) where srun did and MPI cannot connect them: each process would take itself
/// for the whole job.
bool launched_by_mpi();

/// Returns the MPI library that would connect them, by name and version, for checks that depend on
/// them; MPI need not run.
launch::MpiLibrary mpi_library();

/// Settings of a world; defaults are those of a run.
struct MpiOptions {
  /// For tests: the number of the node that a rank counts to; absent: as the machines are.
  std::function<Index(Index rank)> node_of = {};
  /// A rank that lets others wait for so long ends the job (--distributed-timeout-minutes).
  double timeout_minutes = 10;
  /// Hears the sentence with which the watchdog ends this rank.
  std::shared_ptr<FailureHandler> on_failure = nullptr;
  /// Gets every operation and every wait of this rank, while it records.
  std::shared_ptr<Trace> trace = nullptr;
};

/// Groups are made when they are first asked for, in the same order on all ranks.
/// The ranks that mpirun or srun started; every one of them calls this. Error(environment) where
/// MPI knows of fewer ranks than the launcher says. Groups within a node share
/// memory: what `make_allocator` gives is reached where it lies, other memory is copied once more.
/// Groups over several nodes send messages. Both sum in the same order, so they give the same bits.
std::unique_ptr<World> make_mpi_world(const MpiOptions& options = {});

/// Makes make_mpi_world where this process was launched so, a world of one process otherwise. The
/// tests' worlds of threads are made elsewhere (thread_world).
std::unique_ptr<World> make_world(const MpiOptions& options = {});

}  // namespace mpitron::comm
