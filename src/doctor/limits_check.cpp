#include "doctor/limits_check.h"

#include <fmt/format.h>
#include <sys/resource.h>

namespace mpitron::doctor {
namespace {

constexpr Index kFilesWanted = 4096;

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

}  // namespace

Limits read_limits() {
  return {.locked_memory = soft_limit(RLIMIT_MEMLOCK),
          .open_files = soft_limit(RLIMIT_NOFILE),
          .core_bytes = soft_limit(RLIMIT_CORE),
          .address_space = soft_limit(RLIMIT_AS)};
}

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

}  // namespace mpitron::doctor
