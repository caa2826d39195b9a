#pragma once
#include <gtest/gtest.h>

#include "cli/tiny_run.h"

// Commands of the program, run in a folder of their own.

namespace mpitron::test {

class CommandTest : public ::testing::Test {
 protected:
  Finished run(const Words& words, const ProgramEnvironment& environment = {}) const {
    return run_program(folder_.path(), words, environment);
  }
  void expect_refused(const Words& words, int code, const std::string& part) const {
    const Finished end = run(words);
    EXPECT_EQ(end.code, code) << end.err;
    EXPECT_TRUE(contains(end.err, part)) << end.err;
  }

  /// The port that a server tells of when it takes requests.
  static int port_of(const RunningProgram& server) {
    const std::string words = "http://127.0.0.1:";
    EXPECT_TRUE(server.wait_for_output(words));
    const std::string output = server.output();
    return std::stoi(output.substr(output.find(words) + words.size()));
  }

  const TemporaryFolder folder_;
};

}  // namespace mpitron::test
