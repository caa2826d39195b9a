#include <gtest/gtest.h>

#include "doctor/node_checks.h"

namespace mpitron::doctor {
namespace library_check_test {

TEST(LibraryCheck, ListsWhatRuns) {
  const CheckResult result =
      check_libraries({{"MPI 4.1", "", ""}, {"HDF5", "1.10.8", "1.10.9"}, {"Kokkos", "3.4.1", ""}});
  EXPECT_EQ(result.verdict, Verdict::ok);
  EXPECT_EQ(result.found, "MPI 4.1, HDF5 1.10.9, Kokkos 3.4.1");
}

TEST(LibraryCheck, AnotherMinorVersionFails) {
  const CheckResult result = check_libraries({{"HDF5", "1.10.8", "1.12.0"}, {"X", "2.6", "2.6.3"}});
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_EQ(result.found, "loaded HDF5 1.12.0 (built with 1.10.8)");
  EXPECT_FALSE(result.advice.empty());
}

}  // namespace library_check_test
}  // namespace mpitron::doctor
