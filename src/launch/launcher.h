#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/environment.h"

namespace mpitron::launch {

/// The variables of one launcher, and what they say of this process.
struct Claim {
  std::string_view variables;  // "OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE"
  std::optional<Index> rank, size;
};

/// The launchers of this process, as the environment tells; MPI has the last word.
struct Launch {
  std::vector<Claim> claims;  // of launchers that MPI can ask, the innermost first
  bool only_pmi = false;      // they are PMI-1 or PMI-2, not PMIx and not Open MPI's own
  std::optional<Index> step_tasks, task;  // of Slurm's step that this process is in
  std::optional<Index> job_tasks;         // of Slurm's job

  /// Returns whether this is one of several (or one) ranks that MPI can connect.
  bool by_mpi() const { return !claims.empty(); }
  /// Returns this process' place among its like before MPI tells it; 0 where nobody says.
  Index presumed_rank() const;
};

/// Reads the variables of Open MPI, PMI, PMIx and Slurm.
Launch read_launch(const Environment& environment);

/// To be called before MPI starts: Error(environment) where srun started tasks that MPI cannot
/// connect: each would take itself for the whole job, or die in MPI_Init. Nothing may have been
/// written yet.
void check_before_mpi(const Launch& launch, const MpiLibrary& mpi);

/// To be called when MPI has told rank and size: Error(environment) where a launcher started more
/// ranks than MPI sees, or another number.
void check_ranks(const Launch& launch, Index rank, Index size, const MpiLibrary& mpi);

/// Returns a sentence on what is odd but may be meant: one process outside of srun in a job of
/// several tasks. Empty where nothing is.
std::string launch_warning(const Launch& launch);

}  // namespace mpitron::launch
