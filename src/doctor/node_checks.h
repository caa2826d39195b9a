#pragma once
#include <vector>

#include "doctor/check_result.h"
#include "doctor/library_check.h"
#include "launch/environment.h"
#include "launch/mpi_library.h"

namespace mpitron::doctor {

/// What the checks of a machine cannot read from it.
struct ThisProgram {
  launch::Environment environment;
  launch::MpiLibrary mpi;
  std::vector<LibraryVersion> libraries;
  bool has_cuda = false;
};

/// All checks that a machine can do alone and before MPI starts.
std::vector<CheckResult> check_node(const ThisProgram& program);

}  // namespace mpitron::doctor
