#include "support/program.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace mpitron::cli {
namespace program_test {

using namespace mpitron::test;

/// As libgomp tells it when it is loaded; the last report is that of the program that works.
std::string spin_count() {
  const TemporaryFolder folder;
  const std::string report =
      run_program(folder.path(), {"version"}, {.variables = {{"OMP_DISPLAY_ENV", "verbose"}}}).err;
  const std::string name = "GOMP_SPINCOUNT = '";
  const std::size_t at = report.rfind(name);
  if (at == std::string::npos) {
    return "no report: " + report;
  }
  const std::size_t begin = at + name.size();
  return report.substr(begin, report.find('\'', begin) - begin);
}

TEST(Patience, WaitingThreadsSpinShortly) {
  ::unsetenv("OMP_WAIT_POLICY");
  ::unsetenv("GOMP_SPINCOUNT");
  EXPECT_EQ(spin_count(), "1000");
}

TEST(Patience, TheEnvironmentDecidesWhereItSpeaks) {
  ::unsetenv("OMP_WAIT_POLICY");
  ::setenv("GOMP_SPINCOUNT", "77", 1);
  EXPECT_EQ(spin_count(), "77");
  ::unsetenv("GOMP_SPINCOUNT");
  ::setenv("OMP_WAIT_POLICY", "active", 1);
  EXPECT_NE(spin_count(), "1000");
}

}  // namespace program_test
}  // namespace mpitron::cli
