#include "doctor/node_checks.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor/gpu_check.h"
#include "doctor/known_failures.h"
#include "doctor/limits_check.h"
#include "doctor/network_check.h"
#include "doctor/shared_memory_check.h"
#include "doctor/slurm_check.h"
#include "launch/cpu_binding.h"
#include "launch/launcher.h"
#include "launch/ranges.h"
#include "utils/machine_memory.h"

namespace mpitron::doctor {
namespace {

std::string describe(const launch::CpuBinding& cpus) {
  if (cpus.processors == 0) {
    return "cores not known";
  }
  return fmt::format("cores {} ({} processors), NUMA {}", launch::ranges(cpus.cores),
                     cpus.processors, launch::ranges(cpus.numa));
}

CheckResult describe_machine() {
  utsname system{};
  ::uname(&system);
  return {"machine", Verdict::ok,
          fmt::format("{}, {} GiB, {} {}", describe(launch::cpu_binding()), machine_memory() >> 30,
                      system.sysname, system.release),
          ""};
}

CheckResult check_launch(const launch::Environment& environment) {
  const std::string warning = launch::launch_warning(launch::read_launch(environment));
  return {"launch", warning.empty() ? Verdict::ok : Verdict::warn,
          warning.empty() ? "nothing contradicts" : warning, ""};
}

/// Ranks of this machine, as the launcher says.
Index ranks_here(const launch::Environment& environment) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE"}) {
    if (const auto number = launch::number_of(environment, name)) {
      return *number;
    }
  }
  return 1;
}

void append(std::vector<CheckResult>& results, const std::vector<CheckResult>& more) {
  results.insert(results.end(), more.begin(), more.end());
}

}  // namespace

std::vector<CheckResult> check_node(const ThisProgram& program) {
  const launch::Environment& environment = program.environment;
  const Surroundings surroundings = read_surroundings(environment, program.mpi);
  const GpuFacts gpus = read_gpus(program.has_cuda);
  std::vector<CheckResult> results = {describe_machine(), check_libraries(program.libraries),
                                      check_launch(environment)};
  append(results, check_slurm(read_slurm(environment), environment, program.mpi));
  append(results, check_known_failures(surroundings));
  results.push_back(check_shared_memory(read_shared_memory(), ranks_here(environment)));
  append(results, check_limits(read_limits(), surroundings.has_infiniband || !gpus.devices.empty(),
                               machine_memory()));
  append(results, check_network(read_interfaces(), environment));
  results.push_back(check_gpus(gpus, environment));
  return results;
}

}  // namespace mpitron::doctor
