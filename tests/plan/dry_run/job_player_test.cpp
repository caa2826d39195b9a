#include "plan/dry_run/job_player.h"

#include <random>

#include <gtest/gtest.h>

#include "plan/planned_run.h"

namespace mpitron::plan {
namespace job_player_test {

using comm::CollectiveKind;
using comm::GroupEvent;

/// Layouts that together have every group: pipelines with and without chunks, tensor and context
/// ranks, experts, shared optimizer state and parameters.
const std::vector<std::string> kLayouts = {
    "--world-size 2 --tensor-model-parallel-size 2 --sequence-parallel",
    "--world-size 2 --pipeline-model-parallel-size 2",
    "--world-size 2 --context-parallel-size 2",
    "--world-size 2 --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather",
    "--world-size 2 --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
    "--use-distributed-optimizer --ckpt-format fsdp_dtensor",
    "--world-size 8 --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 "
    "--num-virtual-stages-per-pipeline-rank 2 --use-distributed-optimizer",
    "--world-size 8 --pipeline-model-parallel-size 4 --bf16 --overlap-grad-reduce",
    "--world-size 4 --num-experts 4 --moe-router-topk 2 --expert-model-parallel-size 2 "
    "--moe-token-dispatcher-type alltoall --disable-bias-linear",
    "--world-size 8 --num-experts 4 --moe-router-topk 2 --expert-model-parallel-size 4 "
    "--pipeline-model-parallel-size 2 --moe-token-dispatcher-type alltoall --disable-bias-linear "
    "--use-distributed-optimizer"};

TEST(JobPlayer, LayoutsFitTogether) {
  for (const std::string& layout : kLayouts) {
    const auto problem = prove(record_job(test::tiny_run(layout))).problem;
    EXPECT_FALSE(problem) << layout << ": " << *problem;
  }
}

/// Gives one rank a record of its own.
comm::RankRecord& own_record(JobRecord& job, Index rank) {
  const auto place = static_cast<std::size_t>(rank);
  job.classes.push_back(job.classes[job.class_of[place]]);
  job.class_of[place] = job.classes.size() - 1;
  return job.classes.back().record;
}

/// Removes a started operation and the wait for it.
void remove_call(comm::RankRecord& record, std::uint32_t call) {
  std::erase_if(record.events, [&](const GroupEvent& event) { return event.call == call; });
}

/// Starts that a fault may hit.
std::vector<std::size_t> starts(const comm::RankRecord& record, bool messages) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < record.events.size(); ++i) {
    if (!record.events[i].waits && record.events[i].is_message() == messages) {
      places.push_back(i);
    }
  }
  return places;
}

enum class Fault {
  skips,
  other_type,
  other_size,
  other_kind,
  other_group,
  microbatch,
  order,
  last
};

/// What rank `rank` does wrong; empty where it has no such operation.
std::string break_rank(JobRecord& job, Index rank, Fault fault, std::mt19937& random) {
  comm::RankRecord& record = own_record(job, rank);
  const auto pick = [&](const std::vector<std::size_t>& places) {
    return places[random() % places.size()];
  };
  const std::vector<std::size_t> collectives = starts(record, false);
  const std::vector<std::size_t> messages = starts(record, true);
  switch (fault) {
    case Fault::skips:
      remove_call(record, record.events[pick(collectives)].call);
      return "skips a collective";
    case Fault::other_type:
      record.events[pick(collectives)].dtype = DType::i16;
      return "has another type";
    case Fault::other_size:
      record.events[pick(collectives)].sent += 1;
      return "has another size";
    case Fault::other_kind:
      record.events[pick(collectives)].kind = CollectiveKind::barrier;
      return "calls another operation";
    case Fault::other_group: {
      GroupEvent& event = record.events[pick(collectives)];
      const auto groups = static_cast<std::uint32_t>(record.groups.size());
      if (groups < 2) {
        return "";
      }
      event.group = (event.group + 1) % groups;
      return "calls it in another group";
    }
    case Fault::microbatch: {
      if (messages.empty()) {
        return "";
      }
      const std::uint32_t call = record.events[pick(messages)].call;
      remove_call(record, call);
      return "has a message less";
    }
    case Fault::order: {
      std::vector<std::size_t> labelled;
      for (const std::size_t place : messages) {
        if (record.events[place].label != 0 && record.events[place].kind == CollectiveKind::send) {
          labelled.push_back(place);
        }
      }
      if (labelled.size() < 2) {
        return "";
      }
      std::swap(record.events[labelled[0]].label, record.events[labelled[1]].label);
      return "swaps two sends";
    }
    case Fault::last:
      break;
  }
  return "";
}

TEST(JobPlayer, FortySeededFaultsAreFound) {
  std::mt19937 random(7);
  int seeded = 0, found = 0;
  for (int i = 0; seeded < 40; ++i) {
    JobRecord job =
        record_job(test::tiny_run(kLayouts[static_cast<std::size_t>(i) % kLayouts.size()]));
    const auto rank = static_cast<Index>(random()) % job.ranks();
    const auto fault = static_cast<Fault>(i % static_cast<int>(Fault::last));
    const std::string what = break_rank(job, rank, fault, random);
    if (what.empty()) {
      continue;
    }
    ++seeded;
    const auto problem = prove(job).problem;
    EXPECT_TRUE(problem) << "rank " << rank << " " << what;
    found += problem ? 1 : 0;
    if (problem) {
      EXPECT_NE(problem->find(fmt::format("rank {}", rank)), std::string::npos)
          << what << ": " << *problem;
    }
  }
  EXPECT_EQ(found, 40);
}

/// Two ranks with two groups; each starts and waits in the order given.
JobRecord two_ranks(const std::vector<std::uint32_t>& first,
                    const std::vector<std::uint32_t>& second) {
  JobRecord job;
  job.groups = {{"a", {0, 1}}, {"b", {0, 1}}};
  job.groups_of = {{0, 1}, {0, 1}};
  job.class_of = {0, 1};
  for (const auto& order : {first, second}) {
    RankReplay one;
    one.record.groups = {{"a", {0, 1}}, {"b", {0, 1}}};
    std::uint32_t call = 0;
    for (const std::uint32_t group : order) {
      GroupEvent event{.group = group, .kind = CollectiveKind::all_reduce, .call = call++};
      one.record.events.push_back(event);
      event.waits = true;
      one.record.events.push_back(event);
    }
    job.classes.push_back(one);
  }
  return job;
}

TEST(JobPlayer, OrdersThatWaitForEachOtherAreToldAsAChain) {
  EXPECT_FALSE(prove(two_ranks({0, 1, 0}, {0, 1, 0})).problem);
  const auto problem = prove(two_ranks({0, 1}, {1, 0})).problem;
  ASSERT_TRUE(problem);
  EXPECT_EQ(*problem,
            "rank 0 waits for all_reduce of 0 fp32, its operation 1 in group a, to which rank 1 "
            "does not come; rank 1 waits for all_reduce of 0 fp32, its operation 1 in group b, to "
            "which rank 0 does not come");
}

TEST(JobPlayer, SharedDevicesNeedOneOrder) {
  JobRecord job = two_ranks({0, 1}, {1, 0});
  for (RankReplay& one : job.classes) {  // both are started before either is waited for
    std::ranges::stable_sort(one.record.events, {}, &GroupEvent::waits);
  }
  EXPECT_FALSE(play(job).deadlock);
  EXPECT_TRUE(play(job, {.sharing = DeviceSharing::collectives}).deadlock);
}

TEST(JobPlayer, WaitsAddUpToTheStep) {
  JobRecord job = two_ranks({0}, {0});
  for (RankReplay& one : job.classes) {
    const double own = &one == &job.classes[0] ? 1.0 : 3.0;
    for (GroupEvent& event : one.record.events) {
      event.at = own;
    }
    one.record.seconds = own + 0.5;
  }
  const PlayedJob played = play(job, {.seconds = [](const GroupEvent&, Index) { return 0.25; }});
  EXPECT_DOUBLE_EQ(played.seconds, 3.0 + 0.25 + 0.5);
  EXPECT_DOUBLE_EQ(played.busy, 3.5);
}

}  // namespace job_player_test
}  // namespace mpitron::plan
