#include "cli/patience.h"

#include <cstdlib>
#include <filesystem>

#include <sys/prctl.h>
#include <unistd.h>

namespace mpitron::cli {
namespace {

// Rounds of the wait loop, some tens of microseconds; then the thread sleeps.
constexpr const char* kSpinCount = "1000";

}  // namespace

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
