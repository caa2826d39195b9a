#pragma once
#include <string>
#include <vector>

#include "doctor/check_result.h"
#include "launch/environment.h"

namespace mpitron::doctor {

/// What is known to break MPI_Init or the first message depends on these.
struct MachineFacts {
  launch::Environment environment;
  launch::MpiLibrary mpi;
  bool in_container = false;
  bool is_root = false;
  bool has_infiniband = false;
  bool has_munge_library = false;  // for PMIx' component psec/munge
  bool has_pmix_folder = false;    // PMIX_SERVER_TMPDIR is there
  int ptrace_scope = 0;            // of Yama; 0: neighbours may read each other's memory
};

MachineFacts read_machine_facts(const launch::Environment& environment,
                                const launch::MpiLibrary& mpi);

/// One result for each known failure that these facts would meet, with the variable that
/// mends it; a single `ok` where there is none.
std::vector<CheckResult> check_known_failures(const MachineFacts& facts);

}  // namespace mpitron::doctor
