#include "doctor/node_checks.h"

#include <algorithm>
#include <filesystem>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "device/device.h"
#include "doctor/network_check.h"
#include "doctor/slurm_check.h"
#include "launch/launcher.h"
#include "launch/rank_place.h"
#include "utils/system/machine.h"

// Checks that a machine does alone and before MPI starts: libraries, launch, GPUs. Facts are read
// first and judged by functions without side effects, so that tests need no such machine.

namespace mpitron::doctor {
namespace {

std::string describe(const launch::CpuBinding& cpus) {
  if (cpus.processors == 0) {
    return "cores not known";
  }
  return fmt::format("cores {} ({} processors), NUMA {}", launch::ranges(cpus.cores),
                     cpus.processors, launch::ranges(cpus.numa));
}

/// Tells processors, memory and kernel in one line.
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

/// Returns the ranks of this machine, as the launcher says; 1 where it does not.
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

/// Returns "2.6" of "2.6.3": the part that promises the same interface.
std::string minor_of(const std::string& version) {
  const std::size_t first = version.find('.');
  return version.substr(0, first == std::string::npos ? first : version.find('.', first + 1));
}

}  // namespace

/// Runs all checks that need no other node.
std::vector<CheckResult> check_node(const ThisProgram& program) {
  const launch::Environment& environment = program.environment;
  const MachineFacts facts = read_machine_facts(environment, program.mpi);
  const GpuFacts gpus = read_gpus(program.has_cuda);
  std::vector<CheckResult> results = {describe_machine(), check_libraries(program.libraries),
                                      check_launch(environment)};
  append(results, check_slurm(read_slurm(environment), environment, program.mpi));
  append(results, check_known_failures(facts));
  results.push_back(check_shared_memory(read_shared_memory(), ranks_here(environment)));
  append(results, check_limits(read_limits(), facts.has_infiniband || !gpus.devices.empty(),
                               machine_memory()));
  append(results, check_network(read_interfaces(), environment));
  results.push_back(check_gpus(gpus, environment));
  return results;
}

/// Tells a library at run time that differs from the one at build time.
CheckResult check_libraries(const std::vector<LibraryVersion>& libraries) {
  std::vector<std::string> found, exchanged;
  for (const LibraryVersion& library : libraries) {
    const std::string& version = library.running.empty() ? library.built : library.running;
    found.push_back(version.empty() ? library.name : library.name + " " + version);
    if (!library.built.empty() && !library.running.empty() &&
        minor_of(library.built) != minor_of(library.running)) {
      exchanged.push_back(fmt::format("{} (built with {})", found.back(), library.built));
    }
  }
  if (exchanged.empty()) {
    return {"libraries", Verdict::ok, fmt::format("{}", fmt::join(found, ", ")), ""};
  }
  return {
      "libraries", Verdict::fail, fmt::format("loaded {}", fmt::join(exchanged, ", ")),
      "build again on this machine (make build), or put the folder of the libraries that it was "
      "built with first in LD_LIBRARY_PATH"};
}

/// Looks at device files first: they tell of GPUs whose driver does not answer.
GpuFacts read_gpus(bool built_with_cuda) {
  GpuFacts facts{.devices = {}, .has_driver = false, .built_with_cuda = built_with_cuda};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename();
    const std::string number = name.starts_with("nvidia") ? name.substr(6) : "";
    if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos) {
      facts.devices.push_back(entry.path());
    }
  }
  std::sort(facts.devices.begin(), facts.devices.end());
  if (!facts.devices.empty()) {
    facts.has_driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr;
    facts.visible = device::find_gpus().value_or(device::VisibleGpus{});
  }
  return facts;
}

/// Tells what stands between a GPU and this program: driver, build, visibility.
CheckResult check_gpus(const GpuFacts& facts, const launch::Environment& environment) {
  if (facts.devices.empty()) {
    return {"gpu", Verdict::skipped, "no NVIDIA GPU here (/dev/nvidia0)", ""};
  }
  CheckResult result{"gpu", Verdict::ok, fmt::format("{} GPUs", facts.devices.size()), ""};
  const auto visible = launch::text_of(environment, "CUDA_VISIBLE_DEVICES");
  if (!facts.has_driver) {
    result.verdict = Verdict::fail;
    result.found += ", but libcuda.so.1 cannot be loaded";
    result.advice =
        "in a container: docker run --gpus all, or export NVIDIA_VISIBLE_DEVICES=all "
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility (enroot); else install the driver";
  } else if (visible && (visible->empty() || *visible == "-1")) {
    result.verdict = Verdict::warn;
    result.found += ", hidden by an empty CUDA_VISIBLE_DEVICES";
    result.advice = "unset CUDA_VISIBLE_DEVICES; under Slurm ask for them: --gpus-per-node";
  } else if (!facts.built_with_cuda) {
    result.verdict = Verdict::warn;
    result.found += ", which this program was built without";
    result.advice = "make cuda, then run mpitron-cuda";
  } else if (facts.visible.gpus.empty()) {
    result.verdict = Verdict::fail;
    result.found += ", of which this program can use none";
    result.advice = facts.visible.why_none;
  } else {
    for (const device::Gpu& gpu : facts.visible.gpus) {
      result.found += fmt::format("; {} at {} ({}, compute capability {}.{}, {} GiB)", gpu.name,
                                  gpu.pci_bus_id, gpu.uuid, gpu.major, gpu.minor, gpu.bytes >> 30);
    }
  }
  return result;
}

}  // namespace mpitron::doctor
