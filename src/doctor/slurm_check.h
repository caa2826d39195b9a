#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doctor/check_result.h"
#include "launch/environment.h"

namespace mpitron::doctor {

/// How Slurm and MPI would meet on this machine.
/// Read once and judged by pure functions, so that tests need no cluster.
struct SlurmFacts {
  bool is_there = false;      // srun is on the PATH
  std::string mpi_list;       // what `srun --mpi=list` prints
  std::string configuration;  // what `scontrol show config` prints; empty: no controller answers
  std::vector<std::filesystem::path> absent_pmix;  // that a plugin of Slurm wants to open
  /// munge signs every request to Slurm.
  bool munge_answers = false;  // at the socket of the configuration
};

/// Asks srun and scontrol and reads Slurm's plugins.
/// Empty facts where no srun is there.
SlurmFacts read_slurm(const launch::Environment& environment);

/// Returns files that the PMIx plugins in `folder` open by name and that are not there: a plugin
/// names the folder of its libpmix.so, unversioned, which distributions put into a development
/// package.
std::vector<std::filesystem::path> absent_pmix_libraries(const std::filesystem::path& folder);

/// Returns the value of a row "Name  = value" of `scontrol show config`; empty where there is none.
std::string setting(const std::string& configuration, const std::string& name);

/// One result for each thing that can fail, with what mends it.
/// `environment`: of a shell or batch script, or of a step that srun started.
std::vector<CheckResult> check_slurm(const SlurmFacts& facts,
                                     const launch::Environment& environment,
                                     const launch::MpiLibrary& mpi);

/// Checks that srun has a plugin for PMIx that it can open: Open MPI of Debian needs it, and
/// without it each rank thinks it is alone.
CheckResult check_plugin(const SlurmFacts& facts);

/// Checks that srun's type is one that the MPI library speaks.
CheckResult check_mpi_type(const SlurmFacts& facts, const launch::Environment& environment,
                           const launch::MpiLibrary& mpi);

}  // namespace mpitron::doctor
