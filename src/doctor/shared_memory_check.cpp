#include "doctor/shared_memory_check.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

namespace mpitron::doctor {
namespace {

constexpr Index kMiB = Index{1} << 20;
constexpr Index kNeededByRank = 8 * kMiB;   // Open MPI's segment, and room for its neighbours
constexpr Index kWantedByRank = 64 * kMiB;  // NCCL's buffers as well

}  // namespace

SharedMemory read_shared_memory() {
  struct statvfs status {};
  if (::statvfs("/dev/shm", &status) != 0) {
    return {};
  }
  const auto unit = static_cast<Index>(status.f_frsize);
  return {true, static_cast<Index>(status.f_blocks) * unit,
          static_cast<Index>(status.f_bavail) * unit};
}

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
