#pragma once

#include <chrono>

#include <gtest/gtest.h>

#include "comm/watch/watchdog.h"
#include "support/program.h"
#include "support/temporary_folder.h"

// Ranks of which one goes wrong, and what the job says of it.

namespace mpitron::comm {

/// Three ranks, of which rank 1 goes wrong in iteration 4. Only who is stopped needs the timeout
/// (of three seconds; a minute for the others).
class FailingRank : public ::testing::Test {
 protected:
  /// `nodes`: the node of each rank, a digit.
  test::Finished run(const std::string& mode, const std::string& nodes = "") {
    std::vector<std::string> arguments = {"-n", "3", MPITRON_FAILING_RANK, mode,
                                          mode == "stop" || mode == "sleep" ? "0.05" : "1"};
    if (!nodes.empty()) {
      arguments.push_back(nodes);
    }
    const auto start = std::chrono::steady_clock::now();
    const test::Finished end =
        test::run_program(folder_.path(), arguments,
                          {.variables = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                         {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                         {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                         {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                         {"OMPI_MCA_mpi_yield_when_idle", "1"},
                                         // As tests/CMakeLists.txt says of all ranks.
                                         {"ASAN_OPTIONS", "fast_unwind_on_malloc=0"}},
                           .limit = std::chrono::seconds(60)});
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    EXPECT_LT(passed.count(), 20) << "seconds after the failure";
    return end;
  }

  /// The one line of mpitron itself.
  static std::string sentence(const test::Finished& end) {
    const std::string start = "mpitron: error: ";
    const auto at = end.err.find(start);
    if (at == std::string::npos) {
      ADD_FAILURE() << "no sentence in " << end.err;
      return "";
    }
    EXPECT_EQ(end.err.find(start, at + 1), std::string::npos) << "twice: " << end.err;
    return end.err.substr(at + start.size(), end.err.find('\n', at) - at - start.size());
  }

  static void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) {
      EXPECT_TRUE(test::contains(text, part)) << "no '" << part << "' in: " << text;
    }
  }

 private:
  test::TemporaryFolder folder_;
};

/// The sentence of rank 0, which is alone on its machine.
inline std::string sentence_of_rank_0(const std::string& err) {
  const auto at = err.find("; rank 0 waits for it in ");
  const auto begin = err.rfind("mpitron: error: ", at);
  return at == std::string::npos ? "" : err.substr(begin, err.find('\n', at) - begin);
}

}  // namespace mpitron::comm
