#include "launch/launcher.h"

#include <fmt/format.h>

#include "utils/error.h"

// Finds out who started this process (mpirun, srun, nobody) and refuses starts in which each of
// many ranks would take itself for the whole job: they would write over each other's checkpoints.

namespace mpitron::launch {
namespace {

/// Throws an error that rank 0 alone tells: all processes say the same.
template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ExitCode::environment, fmt::format(text, std::forward<Args>(args)...), true);
}

}  // namespace

Index Launch::presumed_rank() const {
  for (const Claim& claim : claims) {
    if (claim.rank) {
      return *claim.rank;
    }
  }
  return task.value_or(0);
}

/// Open MPI's variables are asked first: its mpirun may run inside a step of srun, whose variables
/// are there, too, and mean the helpers.
Launch read_launch(const Environment& environment) {
  const auto number = [&](const char* name) { return number_of(environment, name); };
  Launch launch;
  if (const auto size = number("OMPI_COMM_WORLD_SIZE")) {
    launch.claims.push_back(
        {"OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE", number("OMPI_COMM_WORLD_RANK"), size});
  }
  if (const auto rank = number("PMI_RANK")) {
    launch.only_pmi = launch.claims.empty();
    launch.claims.push_back({"PMI_RANK, PMI_SIZE", rank, number("PMI_SIZE")});
  }
  // mpirun starts one helper per node by srun: then the tasks of the step are nodes.
  if (launch.claims.empty()) {
    launch.step_tasks = number("SLURM_STEP_NUM_TASKS");
    launch.task = number("SLURM_PROCID");
  }
  if (const auto rank = number("PMIX_RANK")) {
    launch.only_pmi = false;
    launch.claims.push_back({"PMIX_RANK, SLURM_STEP_NUM_TASKS", rank, launch.step_tasks});
  }
  launch.job_tasks = number("SLURM_NTASKS");
  return launch;
}

void check_before_mpi(const Launch& launch, const MpiLibrary& mpi) {
  const bool connected = launch.by_mpi() && (!launch.only_pmi || mpi.knows_pmi);
  const auto tasks = launch.by_mpi() ? launch.claims[0].size : launch.step_tasks;
  if (connected || tasks.value_or(1) <= 1) {
    return;
  }
  refuse(
      "{} started {} tasks that MPI ({}) cannot connect: each would take itself for the whole "
      "job. Use `srun --mpi=pmix` (or export SLURM_MPI_TYPE=pmix), or this MPI's mpirun; "
      "`srun --mpi=list` shows what this Slurm has, `mpitron doctor --without-mpi` what is missing",
      launch.by_mpi() ? "a launcher that speaks PMI (srun --mpi=pmi2, MPICH's mpirun)" : "srun",
      *tasks, mpi.version);
}

void check_ranks(const Launch& launch, Index rank, Index size, const MpiLibrary& mpi) {
  const auto told = [](std::optional<Index> n) { return n ? std::to_string(*n) : "unknown"; };
  for (const Claim& claim : launch.claims) {
    if (claim.size.value_or(size) != size || claim.rank.value_or(0) >= size) {
      refuse(
          "the launcher says rank {} of {} ({}), MPI says rank {} of {}: launcher and program "
          "belong to different MPI libraries, so that each rank would take itself for the whole "
          "job. This program has {}: start it with the mpirun of that library, or with "
          "`srun --mpi=pmix`",
          told(claim.rank), told(claim.size), claim.variables, rank, size, mpi.version);
    }
  }
}

std::string launch_warning(const Launch& launch) {
  if (launch.by_mpi() || launch.step_tasks || launch.job_tasks.value_or(1) <= 1) {
    return "";
  }
  return fmt::format(
      "this Slurm job has {} tasks (SLURM_NTASKS), and this is one process outside of srun: start "
      "all of them with `srun --mpi=pmix mpitron ...`, or with mpirun",
      *launch.job_tasks);
}

}  // namespace mpitron::launch
