#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "cli/tiny_run.h"

// A run that is killed at any moment of its saving goes on from the last checkpoint that it
// reported. MPITRON_KILLS: how many times (default 12).

namespace mpitron::cli {
namespace {

using namespace mpitron::test;

/// The number behind the last occurrence of `text`; 0 where there is none.
long last_number(const std::string& out, const std::string& text) {
  const auto at = out.rfind(text);
  return at == std::string::npos ? 0 : std::stol(out.substr(at + text.size()));
}

int rounds() {
  const char* given = std::getenv("MPITRON_KILLS");
  return given != nullptr ? std::atoi(given) : 12;
}

TEST(KilledSave, NothingIsLostButTheUnfinishedOne) {
  const TemporaryFolder folder;
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Words flags = kTinyModel + Words{"--mock-data",
                                   "--train-iters",
                                   "1000000",
                                   "--save-interval",
                                   "1",
                                   "--save",
                                   "a",
                                   "--load",
                                   "a",
                                   "--save-keep-last",
                                   "2",
                                   "--allow-random-init",
                                   "--log-interval",
                                   "1000"};
  long saved = 0;
  for (int round = 0; round < rounds(); ++round) {
    RunningProgram run(folder.path(), flags + (round % 2 == 0 ? Words{} : Words{"--async-save"}));
    ASSERT_TRUE(run.wait_for_output("saving checkpoint at iteration"));
    ::usleep(std::uniform_int_distribution<useconds_t>(0, 100'000)(random));
    run.signal(SIGKILL);
    const Finished killed = run.wait_for_end();
    EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
    const long start = last_number(killed.out, "loading checkpoint from a/iter_");
    EXPECT_GE(start, saved) << killed.out << killed.err;
    saved =
        std::max(start, last_number(killed.out, "successfully saved checkpoint from iteration"));
  }
  EXPECT_GT(saved, 0);
  const Finished verified = run_program(folder.path(), {"verify", "a"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

}  // namespace
}  // namespace mpitron::cli
