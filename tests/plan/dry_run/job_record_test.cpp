#include "plan/dry_run/job_record.h"

#include <gtest/gtest.h>

#include "plan/dry_run/job_player.h"
#include "plan/planned_run.h"
#include "train/layout_sample.h"

namespace mpitron::plan {
namespace job_record_test {

/// A sample of a dense model's and one's with experts, or what MPITRON_LAYOUTS says of all kinds.
std::vector<train::GeneratedLayout> layouts_to_play() {
  constexpr std::size_t kDense = 0, kExperts = 6, kSample = 24;
  if (std::getenv("MPITRON_LAYOUTS") != nullptr) {
    return train::sample_layouts(train::kinds_of_models(), train::layout_seed(), kSample);
  }
  const std::vector<train::Flags> kinds = train::kinds_of_models();
  return train::drawn_layouts({kinds[kDense], kinds[kExperts]}, train::layout_seed(), kSample);
}

/// No layout that `mpitron check` calls legal is said not to fit together.
TEST(JobRecord, LegalLayoutsFitTogether) {
  const auto layouts = layouts_to_play();
  std::printf("%zu layouts, MPITRON_LAYOUT_SEED=%u\n", layouts.size(), train::layout_seed());
  for (const train::GeneratedLayout& layout : layouts) {
    SCOPED_TRACE(::testing::PrintToString(layout));
    try {
      const auto run = train::tiny_run(train::operator+(layout.model, layout.layout), layout.ranks);
      const auto problem = prove(record_job(run)).problem;
      EXPECT_FALSE(problem) << *problem;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

/// Ranks whose parts of the gradients have other norms in them sum other numbers of elements.
TEST(JobRecord, PartsOfGradientsMakeClasses) {
  const auto run = test::tiny_run(
      "--world-size 16 --tensor-model-parallel-size 2 --sequence-parallel --bf16 "
      "--pipeline-model-parallel-size 2 --use-distributed-optimizer --overlap-grad-reduce");
  const JobRecord job = record_job(run);
  EXPECT_GT(job.classes.size(), 2u);
  EXPECT_FALSE(prove(job).problem);
  for (Index rank = 0; rank < job.ranks(); ++rank) {
    EXPECT_EQ(job.record(rank).events, replay_rank(run, rank).record.events) << rank;
  }
}

/// Rank 0 launches a kernel more, for the log, so that its events are later than its peers'.
TEST(JobRecord, TimesOfEqualRanksMayDiffer) {
  const auto run = test::tiny_run("--world-size 2");
  const JobRecord job = record_job(run, {.steps = 1, .seconds = [](const auto&) { return 1e-3; }});
  EXPECT_EQ(job.ranks(), 2);
  EXPECT_FALSE(prove(job).problem);
}

}  // namespace job_record_test
}  // namespace mpitron::plan
