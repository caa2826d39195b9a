#pragma once
#include <string>
#include <vector>

#include "plan/machine/machine.h"

namespace mpitron::plan {

/// A part of the start of a job.
struct StartupPhase {
  std::string name;
  double seconds = 0;
  std::string what;  // the numbers behind it
};

/// Files and bytes that a job opens and reads at its start.
struct StartupInputs {
  double program_bytes = 300e6;  // of the program and its libraries
  double program_files = 60;     // opened by each rank
  double checkpoint_bytes = 0;   // 0: 18 bytes a parameter
  double data_files = 2;         // opened by each node, which shares them among its ranks
};

/// Returns the phases from the launcher to the end of the first step, beside the step itself.
/// Communicators are made one after the other, before the model.
std::vector<StartupPhase> startup_phases(const Machine& machine, const Job& job,
                                         const StartupInputs& inputs = {});

/// A group of several ranks that a rank has a communicator for.
struct Communicator {
  std::string name;
  double ranks = 1;
};
/// Returns a rank's communicators; groups of one rank need none and are left out.
std::vector<Communicator> communicators(const Job& job);
/// Returns the bytes that they take on a rank.
double communicator_bytes(const Machine& machine, const Job& job);

}  // namespace mpitron::plan
