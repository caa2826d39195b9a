#include <filesystem>
#include <fstream>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "doctor/node_checks.h"

// Failures of MPI and Slurm that others have reported, each with the facts by which it is
// recognised before it happens.

namespace mpitron::doctor {
namespace {

using launch::number_of;
using launch::text_of;

bool mentions(const MachineFacts& s, const char* variable, const char* word) {
  return text_of(s.environment, variable).value_or("").find(word) != std::string::npos;
}

bool is_set(const MachineFacts& s, const char* variable) {
  return s.environment.contains(variable);
}

bool is_open_mpi(const MachineFacts& s) {
  return s.mpi.version.starts_with("Open MPI");
}

/// A row of the table: when it applies, what happens then, what mends it and where it was reported.
struct KnownFailure {
  const char* name;
  Verdict verdict;
  bool (*applies)(const MachineFacts&);
  const char* symptom;
  const char* advice;
};

constexpr KnownFailure kKnown[] = {
    {"pmix munge", Verdict::fail,
     [](const MachineFacts& s) {
       return !s.has_munge_library && !is_set(s, "PMIX_MCA_psec") &&
              mentions(s, "PMIX_SECURITY_MODE", "munge");
     },
     "PMIx is told to use munge and libmunge is not here: MPI_Init ends with \"psec munge "
     "NOT-FOUND\" (NVIDIA/pyxis#88, open-mpi/ompi#12571)",
     "export PMIX_MCA_psec=native before srun, or install libmunge2 in the container"},
    {"pmix munge chosen", Verdict::fail,
     [](const MachineFacts& s) {
       return !s.has_munge_library && mentions(s, "PMIX_MCA_psec", "munge");
     },
     "PMIX_MCA_psec names munge and libmunge is not here (open-mpi/ompi#9582)",
     "export PMIX_MCA_psec=native"},
    {"pmix shared store", Verdict::fail,
     [](const MachineFacts& s) {
       return !s.has_pmix_folder && is_set(s, "PMIX_SERVER_TMPDIR") &&
              !mentions(s, "PMIX_MCA_gds", "hash");
     },
     "PMIx' shared store (PMIX_SERVER_TMPDIR) cannot be seen from here: MPI_Init ends with errors "
     "of gds_dstore or gds_shmem2 (apptainer/singularity#5195, openpmix#3839)",
     "export PMIX_MCA_gds=hash before srun, or mount that folder: srun "
     "--container-mounts=$PMIX_SERVER_TMPDIR:$PMIX_SERVER_TMPDIR"},
    {"ucx", Verdict::fail,
     [](const MachineFacts& s) {
       return is_open_mpi(s) && !s.has_infiniband && mentions(s, "OMPI_MCA_pml", "ucx") &&
              !mentions(s, "OMPI_MCA_pml", "^");
     },
     "OMPI_MCA_pml=ucx without InfiniBand: ranks die in MPI_Init or at their first message",
     "unset OMPI_MCA_pml"},
    {"process memory", Verdict::warn,
     [](const MachineFacts& s) {
       return is_open_mpi(s) && s.ptrace_scope > 0 &&
              !mentions(s, "OMPI_MCA_btl_vader_single_copy_mechanism", "none");
     },
     "neighbours may not read each other's memory (Yama, or a container): Open MPI prints \"Read "
     "-1, expected N, errno = 1\" (open-mpi/ompi#4948)",
     "export OMPI_MCA_btl_vader_single_copy_mechanism=none, or docker run --cap-add=SYS_PTRACE"},
    {"root", Verdict::warn,
     [](const MachineFacts& s) {
       return is_open_mpi(s) && s.is_root && !is_set(s, "OMPI_COMM_WORLD_SIZE") &&
              !is_set(s, "OMPI_ALLOW_RUN_AS_ROOT");
     },
     "mpirun refuses to start programs of root",
     "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
    {"temporary folder", Verdict::fail,
     [](const MachineFacts& s) {
       constexpr std::size_t kLongest = 60;  // a socket's path has 107 characters in all
       return text_of(s.environment, "TMPDIR").value_or("").size() > kLongest;
     },
     "TMPDIR is so long that the sockets of MPI and PMIx below it have no valid names",
     "export TMPDIR=/tmp"},
    {"cpus per task", Verdict::warn,
     [](const MachineFacts& s) {
       return is_set(s, "SLURM_JOB_ID") && !is_set(s, "SLURM_STEP_NUM_TASKS") &&
              number_of(s.environment, "SLURM_CPUS_PER_TASK").value_or(1) > 1 &&
              !is_set(s, "SRUN_CPUS_PER_TASK");
     },
     "since Slurm 22.05 srun does not take --cpus-per-task from sbatch: each rank gets one core",
     "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK"},
};

/// Returns whether the loader finds a library, which is all that many remedies depend on.
bool can_load(const char* library) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) {
    ::dlclose(handle);
  }
  return handle != nullptr;
}

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace

/// Looks only at this machine; nothing is started.
MachineFacts read_machine_facts(const launch::Environment& environment,
                                const launch::MpiLibrary& mpi) {
  MachineFacts s{.environment = environment, .mpi = mpi};
  s.in_container = is_there("/.dockerenv") || is_there("/run/.containerenv") ||
                   is_there("/.singularity.d") || environment.contains("ENROOT_ROOTFS") ||
                   environment.contains("container");
  s.is_root = ::geteuid() == 0;
  std::error_code error;
  s.has_infiniband = is_there("/sys/class/infiniband") &&
                     !std::filesystem::is_empty("/sys/class/infiniband", error);
  s.has_munge_library = can_load("libmunge.so.2");
  s.has_pmix_folder = is_there(text_of(environment, "PMIX_SERVER_TMPDIR").value_or(""));
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> s.ptrace_scope;
  return s;
}

/// Returns those that apply, each with the variable or command that mends it.
std::vector<CheckResult> check_known_failures(const MachineFacts& facts) {
  std::vector<CheckResult> results;
  for (const KnownFailure& known : kKnown) {
    if (known.applies(facts)) {
      results.push_back({known.name, known.verdict, known.symptom, known.advice});
    }
  }
  if (results.empty()) {
    results.push_back({"known failures", Verdict::ok,
                       fmt::format("none of {} applies{}", std::size(kKnown),
                                   facts.in_container ? " in this container" : ""),
                       ""});
  }
  return results;
}

}  // namespace mpitron::doctor
