#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "cli/tiny_run.h"

// A run that is killed at any moment of its saving goes on from the last checkpoint that it
// reported; the last kill comes when there is one. MPITRON_KILLS: how many times (default 12).

namespace mpitron::cli {
namespace killed_save_test {

using namespace mpitron::test;

constexpr const char* kSaved = "successfully saved checkpoint from iteration";
constexpr const char* kSavedForGood = " to a | ";  // in --save, whatever else is short-lived

/// The number behind the last occurrence of `text`; 0 where there is none.
long last_number(const std::string& out, const std::string& text) {
  const auto at = out.rfind(text);
  return at == std::string::npos ? 0 : std::stol(out.substr(at + text.size()));
}

int rounds() {
  const char* given = std::getenv("MPITRON_KILLS");
  return given != nullptr ? std::atoi(given) : 12;
}

/// Where the run went on; 0 where it began anew.
long start_of(const std::string& out) {
  const auto at = out.rfind(" loading checkpoint from ");
  return at == std::string::npos
             ? 0
             : last_number(out.substr(at, out.find('\n', at) - at), "at iteration ");
}

struct KilledRuns {
  const char* name;
  Words flags;
};

class KilledSave : public ::testing::TestWithParam<KilledRuns> {};

TEST_P(KilledSave, NothingIsLostButTheUnfinishedOne) {
  const TemporaryFolder folder;
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const Words flags =
      kTinyModel +
      Words{"--mock-data", "--train-iters",       "1000000",        "--save", "a", "--load",
            "a",           "--allow-random-init", "--log-interval", "1000"} +
      GetParam().flags;
  long saved = 0;
  for (int round = 0; round < rounds(); ++round) {
    RunningProgram run(folder.path(), flags + (round % 2 == 0 ? Words{} : Words{"--async-save"}));
    ASSERT_TRUE(run.wait_for_output(round + 1 < rounds() ? "saving checkpoint at iteration"
                                                         : kSavedForGood));
    ::usleep(std::uniform_int_distribution<useconds_t>(0, 100'000)(random));
    run.signal(SIGKILL);
    const Finished killed = run.wait_for_end();
    EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
    const long start = start_of(killed.out);
    EXPECT_GE(start, saved) << killed.out << killed.err;
    saved = std::max(start, last_number(killed.out, kSaved));
  }
  EXPECT_GT(saved, 0);
  const Finished verified = run_program(folder.path(), {"verify", "a"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, KilledSave,
    ::testing::Values(
        KilledRuns{"persistent", {"--save-interval", "1", "--save-keep-last", "2"}},
        KilledRuns{"file_per_writer",
                   {"--save-interval", "1", "--save-keep-last", "2", "--save-file-per-writer"}},
        KilledRuns{"global",
                   {"--save-interval", "2", "--save-keep-last", "2", "--non-persistent-ckpt-type",
                    "global", "--non-persistent-save-interval", "1"}},
        KilledRuns{
            "local",
            {"--save-interval", "3", "--save-keep-last", "2", "--non-persistent-ckpt-type", "local",
             "--non-persistent-local-ckpt-dir", "node", "--non-persistent-save-interval", "1"}}),
    [](const auto& info) { return info.param.name; });

}  // namespace killed_save_test
}  // namespace mpitron::cli
