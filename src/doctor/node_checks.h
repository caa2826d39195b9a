#pragma once
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "doctor/check_result.h"
#include "launch/environment.h"
#include "utils/numbers/shape.h"
#include "utils/system/machine.h"

namespace mpitron::doctor {

/// Checks that no library was exchanged for another major or minor version after the build.
CheckResult check_libraries(const std::vector<LibraryVersion>& libraries);

/// Facts of the program that the checks of a machine cannot read from it.
struct ThisProgram {
  launch::Environment environment;
  launch::MpiLibrary mpi;
  std::vector<LibraryVersion> libraries;
  bool has_cuda = false;
};

/// Runs all checks that a machine can do alone and before MPI starts.
std::vector<CheckResult> check_node(const ThisProgram& program);

/// Soft limits of this process (`ulimit`); none: unlimited.
struct Limits {
  std::optional<Index> locked_memory;  // bytes
  std::optional<Index> open_files;
  std::optional<Index> core_bytes;
  std::optional<Index> address_space;  // bytes
};

Limits read_limits();

/// Returns one result for each limit. `pins_memory`: the machine has InfiniBand or GPUs, whose
/// drivers lock memory; `memory_bytes`: of the machine, as much as each rank reserves of addresses
/// (it touches little of it).
std::vector<CheckResult> check_limits(const Limits& limits, bool pins_memory, Index memory_bytes);

/// Size and free bytes of /dev/shm.
struct SharedMemory {
  bool is_there = false;
  Index bytes = 0;
  Index free = 0;
};

SharedMemory read_shared_memory();

/// Judges the size: MPI keeps buffers for each rank there, NCCL larger ones, and a container's
/// default may be too small.
CheckResult check_shared_memory(const SharedMemory& memory, Index ranks_of_node);

/// GPUs as the system shows them.
struct GpuFacts {
  std::vector<std::string> devices;  // "/dev/nvidia0"
  bool has_driver = false;           // libcuda.so.1 can be loaded
  bool built_with_cuda = false;      // this program
  device::VisibleGpus visible = {};  // what the driver tells a program built with CUDA
};

GpuFacts read_gpus(bool built_with_cuda);

CheckResult check_gpus(const GpuFacts& facts, const launch::Environment& environment);

/// Facts of a machine on which known failures of MPI_Init or of the first message depend.
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

/// Returns one result for each known failure that these facts would meet, with the variable that
/// mends it; a single `ok` where there is none.
std::vector<CheckResult> check_known_failures(const MachineFacts& facts);

}  // namespace mpitron::doctor
