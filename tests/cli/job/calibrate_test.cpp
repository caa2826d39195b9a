#include <fstream>

#include "cli/command_test.h"

namespace mpitron::cli {
namespace calibrate_test {

using namespace mpitron::test;

class Calibrate : public CommandTest {};

/// The flags of a tiny run behind another command.
Words tiny(const std::string& command, const Words& more) {
  Words words = kTinyMock + more;
  words[0] = command;
  return words;
}

TEST_F(Calibrate, WritesAMachineFileThatPlanTakes) {
  const Finished end = run(tiny("doctor", {"--calibrate", "--machine-out", "cpu.yaml"}));
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_TRUE(contains(end.out, "1 of 1 programs")) << end.out;
  const Finished planned = run(tiny("plan", {"--machine", "cpu.yaml", "--world-size", "1"}));
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_TRUE(contains(planned.out, "tokens/s")) << planned.out;
}

TEST_F(Calibrate, MistakesAreNamedBeforeAnythingIsMeasured) {
  expect_refused({"doctor", "--calibrate"}, 2, "--machine-out FILE.yaml is missing");
  for (const char* wrong : {"0", "soon", "nan", "4.9", "60s"}) {
    expect_refused(
        {"doctor", "--calibrate", "--machine-out", "cpu.yaml", "--calibrate-seconds", wrong}, 2,
        std::string("--calibrate-seconds ") + wrong);
  }
  std::ofstream(folder_ / "notes.yaml") << "milk, bread\n";
  expect_refused({"doctor", "--calibrate", "--machine-out", "notes.yaml"}, 21, "notes.yaml");
}

}  // namespace calibrate_test
}  // namespace mpitron::cli
