#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "doctor/node_checks.h"

// Checks of a node's limits: open files, locked memory and shared memory.

namespace mpitron::doctor {
namespace {

constexpr Index kFilesWanted = 4096;

/// Returns a limit; nothing where there is none.
std::optional<Index> soft_limit(__rlimit_resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return static_cast<Index>(limit.rlim_cur);
}

std::string told(std::optional<Index> bytes) {
  return bytes ? fmt::format("{} KiB", *bytes >> 10) : "unlimited";
}

constexpr Index kMiB = Index{1} << 20;
constexpr Index kNeededByRank = 8 * kMiB;   // Open MPI's segment, and room for its neighbours
constexpr Index kWantedByRank = 64 * kMiB;  // NCCL's buffers as well

}  // namespace

Limits read_limits() {
  return {.locked_memory = soft_limit(RLIMIT_MEMLOCK),
          .open_files = soft_limit(RLIMIT_NOFILE),
          .core_bytes = soft_limit(RLIMIT_CORE),
          .address_space = soft_limit(RLIMIT_AS)};
}

/// Judges the limits: locked memory matters to fast networks and GPUs, open files to many ranks,
/// address space to what ranks reserve.
std::vector<CheckResult> check_limits(const Limits& limits, bool pins_memory, Index memory_bytes) {
  CheckResult locked{"locked memory", Verdict::ok, told(limits.locked_memory), ""};
  if (pins_memory && limits.locked_memory) {
    locked.verdict = Verdict::warn;
    locked.found += "; InfiniBand and GPU drivers pin buffers";
    locked.advice =
        "ulimit -l unlimited; for all jobs: LimitMEMLOCK=infinity in slurmd.service and "
        "PropagateResourceLimitsExcept=MEMLOCK in slurm.conf; docker run --ulimit memlock=-1";
  }

  CheckResult files{"open files", Verdict::ok,
                    limits.open_files ? std::to_string(*limits.open_files) : "unlimited", ""};
  if (limits.open_files.value_or(kFilesWanted) < kFilesWanted) {
    files.verdict = Verdict::warn;
    files.found +=
        fmt::format("; jobs of many ranks and corpora of many files want {}", kFilesWanted);
    files.advice = fmt::format("ulimit -n {}", 16 * kFilesWanted);
  }

  CheckResult core{"core files", Verdict::ok, told(limits.core_bytes), ""};
  if (limits.core_bytes.value_or(1) == 0) {
    core.found = "none are written when a rank crashes";
    core.advice = "to look into a crash: ulimit -c unlimited";
  }

  CheckResult addresses{"address space", Verdict::ok, told(limits.address_space), ""};
  if (limits.address_space && *limits.address_space < 2 * memory_bytes) {
    addresses.verdict = Verdict::fail;
    addresses.found += fmt::format(
        "; a rank reserves addresses for the machine's whole memory ({} KiB)", memory_bytes >> 10);
    addresses.advice = "ulimit -v unlimited";
  }
  return {locked, files, core, addresses};
}

/// Reads /dev/shm; nothing where there is none, as in some containers.
SharedMemory read_shared_memory() {
  struct statvfs status {};
  if (::statvfs("/dev/shm", &status) != 0) {
    return {};
  }
  const auto unit = static_cast<Index>(status.f_frsize);
  return {true, static_cast<Index>(status.f_blocks) * unit,
          static_cast<Index>(status.f_bavail) * unit};
}

/// Judges its size: below the need of the ranks MPI fails, below NCCL's it is slow or fails later.
CheckResult check_shared_memory(const SharedMemory& memory, Index ranks_of_node) {
  CheckResult result{"/dev/shm", Verdict::ok, "", ""};
  const char* const larger =
      "docker run --shm-size=8g (or --ipc=host); outside of containers as root: mount -o "
      "remount,size=50% /dev/shm";
  if (!memory.is_there) {
    return {result.name, Verdict::fail, "is not there", "mount -t tmpfs tmpfs /dev/shm"};
  }
  result.found = fmt::format("{} MiB", memory.bytes / kMiB);
  if (memory.free < kNeededByRank * ranks_of_node) {
    result.verdict = Verdict::fail;
    result.found += fmt::format(", of which {} free; {} ranks need {}", memory.free / kMiB,
                                ranks_of_node, kNeededByRank * ranks_of_node / kMiB);
    result.advice = fmt::format(
        "remove what killed jobs left (rm /dev/shm/vader_segment.$(hostname).*), or make it "
        "larger: {}",
        larger);
  } else if (memory.bytes < kWantedByRank * ranks_of_node) {
    result.verdict = Verdict::warn;
    result.found += fmt::format("; {} ranks with NCCL want {}", ranks_of_node,
                                kWantedByRank * ranks_of_node / kMiB);
    result.advice = larger;
  }
  return result;
}

}  // namespace mpitron::doctor
