#include "cli/program.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "build_info.h"

// The program as a process: what it was built from, the files that were installed with it, and how
// its threads wait.

namespace mpitron::cli {

std::string fingerprint() {
  namespace info = build_info;
  return fmt::format("mpitron {} (commit {}, {}, {}, -march={}, {})", info::kVersion, info::kCommit,
                     info::kBuildType, info::kCompiler, info::kArch, info::kCuda);
}

std::optional<std::filesystem::path> installed(const std::filesystem::path& name) {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::filesystem::path file =
      program.parent_path().parent_path() / "share" / "mpitron" / name;
  return !failed && std::filesystem::exists(file, failed) ? std::optional(file) : std::nullopt;
}

namespace {

/// Rounds of libgomp's wait loop, after which a thread sleeps.
constexpr const char* kSpinCount = "1000";

}  // namespace

/// Starts the program anew with a spin count for libgomp, which reads it before main(); a user's
/// own setting stays.
void wait_patiently(char** argv) {
  // Started by way of /proc/self/exe, it would be called `exe` in lists of processes.
  ::prctl(PR_SET_NAME, std::filesystem::path(argv[0]).filename().c_str());
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) {
    return;
  }
  ::setenv("GOMP_SPINCOUNT", kSpinCount, 1);
  ::execv("/proc/self/exe", argv);
}

}  // namespace mpitron::cli
