#include "train/timing/profile.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "comm/worlds/mpi_world.h"
#include "io/logs/trace_file.h"
#include "support/program.h"
#include "support/temporary_folder.h"
#include "train/layout_cases.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace profile_test {

constexpr Index kSteps = 6;

/// One rank of the tests below: trains with the flags of the environment, recording its last steps.
TEST(Profile, DISABLED_Rank) {
  const auto trace = std::make_shared<Trace>();
  const auto world = comm::make_mpi_world({.trace = trace});
  const auto device = device::make_device("host", world->make_allocator());
  Flags flags = {"--profile",
                 "--profile-step-start",
                 "2",
                 "--profile-step-end",
                 "6",
                 "--profile-ranks",
                 "0",
                 "1",
                 "--num-layers",
                 "4",
                 "--hidden-size",
                 "64",
                 "--ddp-bucket-size",
                 "500"};
  if (std::getenv("MPITRON_TEST_OVERLAP") != nullptr) {
    flags.emplace_back("--overlap-grad-reduce");
  }
  const config::RunConfig config = tiny_run(flags, world->size());
  TrainedModel model(*device, config, *world);
  Timers timers(0, config::TimingLogOption::max);
  Profile profile(*device, *world, config.training, trace);
  timers.set_trace(profile.trace());
  TrainStep step(*device, model, config, timers);
  TinyCorpus corpus;
  for (Index iteration = 1; iteration <= kSteps; ++iteration) {
    Index first = 8 * (iteration - 1) + model.groups().data->rank();
    profile.begin_step(iteration);
    step.run(iteration, 2, 8, [&] { return corpus.rows(std::exchange(first, first + 2), 2); });
    profile.end_step(iteration);
  }
  world->all()->barrier();
}

struct Interval {
  double begin, end;
  bool has_begin_of(const Interval& other) const {
    return begin <= other.begin && other.begin < end;
  }
};

/// Of one rank: what the proof needs.
struct RankSpans {
  std::vector<Interval> steps, backward, reductions, kernels;

  /// Reductions that were begun in a backward pass which had kernels to run yet. Only the order of
  /// events is looked at: how long a reduction takes depends on what else the machine does.
  Index overlapped() const {
    return std::ranges::count_if(reductions, [this](const Interval& reduction) {
      return std::ranges::any_of(backward, [&](const Interval& pass) {
        const auto later = [&](const Interval& kernel) {
          return pass.has_begin_of(kernel) && kernel.begin > reduction.begin;
        };
        return pass.has_begin_of(reduction) && std::ranges::any_of(kernels, later);
      });
    });
  }
};

std::map<std::int64_t, RankSpans> run_two_ranks(bool overlap) {
  const test::TemporaryFolder folder;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  test::ProgramEnvironment environment{.variables = {{"OMP_NUM_THREADS", "1"},
                                                     {"OMP_WAIT_POLICY", "passive"},
                                                     {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                                     {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                                     {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                                     {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                                     {"OMPI_MCA_mpi_yield_when_idle", "1"}},
                                       .limit = std::chrono::seconds(120)};
  if (overlap) {
    environment.variables["MPITRON_TEST_OVERLAP"] = "1";
  }
  const test::Finished end = test::run_program(
      folder.path(),
      {"-n", "2", self, "--gtest_also_run_disabled_tests", "--gtest_filter=Profile.*Rank"},
      environment);
  EXPECT_EQ(end.code, 0) << end.out << end.err;
  const auto merged = folder.path() / "merged.json";
  io::merge_traces(std::vector{folder.path() / "profile" / io::trace_file_name(0),
                               folder.path() / "profile" / io::trace_file_name(1)},
                   merged);
  const MappedFile file(merged);
  std::map<std::int64_t, RankSpans> ranks;
  io::read_trace(file.text(), merged, [&ranks](const io::TraceEvent& event) {
    const Interval interval{event.begin, event.begin + event.duration};
    RankSpans& spans = ranks[event.rank];
    if (event.name == "step") {
      spans.steps.push_back(interval);
    } else if (event.name == "backward-compute") {
      spans.backward.push_back(interval);
    } else if (event.category == "kernel") {
      spans.kernels.push_back(interval);
    } else if (event.phase == 'b' && event.group.starts_with("data") && event.bytes > 1000) {
      spans.reductions.push_back(interval);
    }
  });
  return ranks;
}

TEST(Profile, ProvesThatReductionsOverlapTheBackwardPass) {
  const auto ranks = run_two_ranks(true);
  ASSERT_EQ(ranks.size(), 2u);
  for (const auto& [rank, spans] : ranks) {
    EXPECT_EQ(spans.steps.size(), 4u);
    EXPECT_GE(spans.reductions.size(), 4u * 4u) << "several buckets a step";
    EXPECT_GT(spans.overlapped(), 0) << "rank " << rank;
  }
  // Ranks take their steps together, so on one clock their steps overlap.
  for (std::size_t i = 0; i < 4; ++i) {
    const Interval &a = ranks.at(0).steps[i], &b = ranks.at(1).steps[i];
    EXPECT_LT(std::max(a.begin, b.begin), std::min(a.end, b.end)) << "step " << i;
  }
}

TEST(Profile, ShowsThatNothingOverlapsWithoutTheFlag) {
  for (const auto& [rank, spans] : run_two_ranks(false)) {
    EXPECT_FALSE(spans.reductions.empty());
    EXPECT_EQ(spans.overlapped(), 0) << "rank " << rank;
  }
}

}  // namespace profile_test
}  // namespace mpitron::train
