#include "pipeline/simulator.h"

#include <functional>

#include <gtest/gtest.h>

#include "pipeline/schedule.h"

namespace mpitron::pipeline {
namespace simulator_test {

constexpr Transport kTransports[] = {Transport::buffered, Transport::rendezvous};

/// Calls `check` for every legal schedule of 2-16 stages, 1-4 chunks and 1-64 microbatches of the
/// kind, overlapped and not.
void sweep(ScheduleKind kind, const std::function<void(const Schedule&)>& check,
           bool join_passes = false) {
  const bool chunked = kind == ScheduleKind::interleaved;
  ScheduleOptions options{.kind = kind, .join_passes = join_passes};
  for (options.stages = 2; options.stages <= 16; ++options.stages) {
    for (options.chunks = chunked ? 2 : 1; options.chunks <= (chunked ? 4 : 1); ++options.chunks) {
      for (options.microbatches = 1; options.microbatches <= 64; ++options.microbatches) {
        const Index rest = options.microbatches % options.group_size();
        for (const bool overlapped : {true, false}) {
          options.overlap_p2p_comm = overlapped;
          if (!chunked || rest == 0 || rest >= options.stages) {
            check(make_schedule(options));
          }
        }
      }
    }
  }
}

Simulation proven(const Schedule& schedule, const Costs& costs, Transport transport) {
  const ScheduleOptions& options = schedule.options;
  Simulation simulation = simulate(schedule, costs, transport);
  EXPECT_EQ(simulation.problem, "")
      << to_string(options.kind) << " " << options.stages << " stages " << options.chunks
      << " chunks " << options.microbatches << " microbatches in " << options.group_size();
  for (const StageSimulation& stage : simulation.stages) {
    EXPECT_LE(stage.peak_sends, 2 * kSendsInFlight);  // activations and gradients
  }
  return simulation;
}

/// Proves the schedule for both transports and returns the slower one's figures.
Simulation proven(const Schedule& schedule, const Costs& costs = {}) {
  proven(schedule, costs, Transport::buffered);
  return proven(schedule, costs, Transport::rendezvous);
}

Index tapes(const Simulation& simulation, Index stage) {
  return simulation.stages[static_cast<std::size_t>(stage)].peak_live_tapes;
}

TEST(Simulator, OneForwardOneBackwardIsProvenForAllSizes) {
  sweep(ScheduleKind::one_forward_one_backward, [](const Schedule& schedule) {
    const ScheduleOptions& options = schedule.options;
    const Simulation simulation = proven(schedule);
    for (Index stage = 0; stage < options.stages; ++stage) {
      EXPECT_EQ(tapes(simulation, stage), std::min(options.microbatches, options.stages - stage));
    }
    EXPECT_NEAR(simulation.bubble(),
                static_cast<double>(options.stages - 1) / static_cast<double>(options.microbatches),
                1e-9);
  });
}

TEST(Simulator, InterleavedIsProvenForAllSizes) {
  sweep(ScheduleKind::interleaved, [](const Schedule& schedule) {
    const ScheduleOptions& options = schedule.options;
    const Simulation simulation = proven(schedule);
    const Index all = options.chunks * options.microbatches;
    for (Index stage = 0; stage < options.stages; ++stage) {
      EXPECT_EQ(tapes(simulation, stage), std::min(all, interleaved_warmup(options, stage) + 1));
    }
    if (options.microbatches % options.stages == 0) {
      EXPECT_NEAR(simulation.bubble(),
                  static_cast<double>(options.stages - 1) / static_cast<double>(all), 1e-9);
    }
  });
}

TEST(Simulator, JoinedPassesAreProvenForAllSizes) {
  const auto check = [](const Schedule& schedule) {
    const ScheduleOptions& options = schedule.options;
    const Simulation simulation = proven(schedule);
    const Index all = options.chunks * options.microbatches;
    for (Index stage = 0; stage < options.stages; ++stage) {
      EXPECT_EQ(tapes(simulation, stage), std::min(all, interleaved_warmup(options, stage, 1) + 1));
    }
  };
  sweep(ScheduleKind::interleaved, check, true);
}

TEST(Simulator, InterleavedIsProvenForLargerGroups) {
  for (Index stages = 2; stages <= 16; ++stages) {
    for (const Index group : {stages + 1, 2 * stages, 3 * stages + 1}) {
      for (Index microbatches = 1; microbatches <= 64; ++microbatches) {
        const Index rest = microbatches % group;
        if (rest == 0 || rest >= stages) {
          proven(make_schedule({.kind = ScheduleKind::interleaved,
                                .stages = stages,
                                .chunks = 2,
                                .microbatches = microbatches,
                                .microbatch_group_size_per_virtual_stage = group,
                                .overlap_p2p_comm = microbatches % 2 == 0}));
        }
      }
    }
  }
}

TEST(Simulator, ZeroBubbleIsProvenForAllSizes) {
  sweep(ScheduleKind::zero_bubble, [](const Schedule& schedule) {
    const ScheduleOptions& options = schedule.options;
    const Simulation simulation = proven(schedule);
    for (Index stage = 0; stage < options.stages; ++stage) {
      EXPECT_LE(tapes(simulation, stage), std::min(options.microbatches, options.stages));
    }
    if (options.microbatches >= options.stages) {
      EXPECT_NEAR(
          simulation.bubble(),
          static_cast<double>(options.stages - 1) / static_cast<double>(3 * options.microbatches),
          1e-9);
    }
  });
}

TEST(Simulator, ForwardOnlyIsProvenAndKeepsNoTape) {
  for (const ScheduleKind kind :
       {ScheduleKind::one_forward_one_backward, ScheduleKind::interleaved}) {
    sweep(kind, [](Schedule schedule) {
      if (schedule.options.microbatches % 7 == 0) {
        schedule.options.forward_only = true;
        const Simulation simulation = proven(make_schedule(schedule.options));
        EXPECT_EQ(tapes(simulation, 0), 0);
      }
    });
  }
}

TEST(Simulator, UnevenCostsAndLatencyDeadlockNothing) {
  const Costs costs[] = {{.forward = 1, .backward_input = 3, .backward_weight = 0.5},
                         {.forward = 4, .backward_input = 1, .backward_weight = 1, .latency = 0.3},
                         {.forward = 0, .backward_input = 1, .backward_weight = 0, .latency = 5}};
  for (const ScheduleKind kind : {ScheduleKind::one_forward_one_backward, ScheduleKind::interleaved,
                                  ScheduleKind::zero_bubble}) {
    sweep(kind, [&costs](const Schedule& schedule) {
      if (schedule.options.microbatches % 12 == 0) {
        for (const Costs& cost : costs) {
          proven(schedule, cost);
        }
      }
    });
  }
}

TEST(Simulator, OverlapHidesLatencyInTheSteadyState) {
  ScheduleOptions options{.kind = ScheduleKind::interleaved,
                          .stages = 4,
                          .chunks = 2,
                          .microbatches = 32,
                          .microbatch_group_size_per_virtual_stage = 8};
  const Costs slow{.latency = 0.5};
  const double hidden = proven(make_schedule(options), slow).makespan;
  options.overlap_p2p_comm = false;
  const double shown = proven(make_schedule(options), slow).makespan;
  EXPECT_LT(hidden, 0.95 * shown);
  EXPECT_LT(hidden, 1.1 * proven(make_schedule(options)).makespan);
}

TEST(Simulator, TimesFollowTheCosts) {
  const Schedule schedule = make_schedule({.stages = 2, .microbatches = 1});
  const Costs costs{.forward = 2, .backward_input = 3, .backward_weight = 4, .latency = 0.5};
  const Simulation simulation = proven(schedule, costs);
  EXPECT_DOUBLE_EQ(simulation.makespan, 2 + 0.5 + 2 + 7 + 0.5 + 7);
  EXPECT_DOUBLE_EQ(simulation.stages[0].busy, 9);
  EXPECT_DOUBLE_EQ(simulation.bubble(), 19.0 / 9 - 1);
  ASSERT_EQ(simulation.stages[1].spans.size(), 2U);
  EXPECT_DOUBLE_EQ(simulation.stages[1].spans[0].start, 2.5);
  EXPECT_DOUBLE_EQ(simulation.stages[1].spans[1].end, 11.5);
}

TEST(Simulator, LongPipelinesAreProven) {
  const Schedule schedule = make_schedule(
      {.kind = ScheduleKind::interleaved, .stages = 64, .chunks = 4, .microbatches = 512});
  EXPECT_NEAR(proven(schedule).bubble(), 63.0 / (4 * 512), 1e-9);
}

// What the proofs are worth: each of these faults is found.

/// 1F1B of 2 stages and 3 microbatches with one change.
std::string problem_after(const std::function<void(Schedule&)>& change,
                          Transport transport = Transport::rendezvous) {
  Schedule schedule = make_schedule({.stages = 2, .microbatches = 3});
  change(schedule);
  return simulate(schedule, {}, transport).problem;
}

bool found(const std::function<void(Schedule&)>& change, std::string_view words) {
  const std::string problem = problem_after(change);
  EXPECT_NE(problem.find(words), std::string::npos) << problem << "\nwithout: " << words;
  return !problem.empty();
}

ActionList::iterator find(ActionList& list, ActionKind kind, Index microbatch) {
  return std::find_if(list.begin(), list.end(), [=](const Action& action) {
    return action.kind == kind && action.microbatch == microbatch;
  });
}

TEST(SimulatorFaults, EveryActionOfAListIsNeeded) {
  for (const ScheduleKind kind : {ScheduleKind::interleaved, ScheduleKind::zero_bubble}) {
    const ScheduleOptions options{.kind = kind,
                                  .stages = 2,
                                  .chunks = kind == ScheduleKind::interleaved ? 2 : 1,
                                  .microbatches = 4};
    const Schedule schedule = make_schedule(options);
    for (std::size_t s = 0; s < 2; ++s) {
      for (std::size_t i = 0; i < schedule.stages[s].size(); ++i) {
        Schedule shorter = schedule;
        shorter.stages[s].erase(shorter.stages[s].begin() + static_cast<std::ptrdiff_t>(i));
        Schedule longer = schedule;
        longer.stages[s].insert(longer.stages[s].begin() + static_cast<std::ptrdiff_t>(i),
                                schedule.stages[s][i]);
        for (const Transport transport : kTransports) {
          EXPECT_NE(simulate(shorter, {}, transport).problem, "") << s << " without " << i;
          EXPECT_NE(simulate(longer, {}, transport).problem, "") << s << " twice " << i;
        }
      }
    }
  }
}

TEST(SimulatorFaults, AJoinedForwardIsFollowedByAnotherOnesBackward) {
  const ScheduleOptions options{
      .kind = ScheduleKind::no_pipelining, .microbatches = 2, .join_passes = true};
  const Schedule schedule = make_schedule(options);  // F0, F1 with B0, B1
  Schedule own = schedule;
  own.stages[0][0].joined = true;
  EXPECT_NE(simulate(own).problem.find("no backward follows"), std::string::npos);
  Schedule itself = schedule;
  std::swap(itself.stages[0][2], itself.stages[0][3]);
  EXPECT_NE(simulate(itself).problem.find("its own backward"), std::string::npos);
}

TEST(SimulatorFaults, ComputationsNeedTheirDataAndOrder) {
  EXPECT_TRUE(
      found([](Schedule& s) { s.stages[1].erase(find(s.stages[1], ActionKind::wait_receive, 0)); },
            "stage 1, action 1 (forward of chunk 0, microbatch 0): its input was not received"));
  EXPECT_TRUE(
      found([](Schedule& s) { s.stages[0].erase(find(s.stages[0], ActionKind::wait_receive, 0)); },
            "its gradient was not received"));
  EXPECT_TRUE(found(
      [](Schedule& s) {
        std::iter_swap(find(s.stages[1], ActionKind::forward, 0),
                       find(s.stages[1], ActionKind::backward, 0));
      },
      "the forward comes first"));
  EXPECT_TRUE(found([](Schedule& s) { s.stages[0].front().microbatch = 3; }, "no such chunk"));
}

TEST(SimulatorFaults, MessagesNeedTheRightNeighbourAndOrder) {
  EXPECT_TRUE(found([](Schedule& s) { find(s.stages[0], ActionKind::send, 0)->peer_stage = 0; },
                    "not the neighbour"));
  EXPECT_TRUE(found(
      [](Schedule& s) {
        std::iter_swap(s.stages[0].begin(), find(s.stages[0], ActionKind::send, 0));
      },
      "there is nothing to send yet"));
  EXPECT_TRUE(found(
      [](Schedule& s) {  // receives of one channel change places, waits stay
        std::swap(find(s.stages[1], ActionKind::receive, 1)->microbatch,
                  find(s.stages[1], ActionKind::receive, 2)->microbatch);
        std::swap(find(s.stages[1], ActionKind::wait_receive, 1)->microbatch,
                  find(s.stages[1], ActionKind::wait_receive, 2)->microbatch);
        std::swap(find(s.stages[1], ActionKind::forward, 1)->microbatch,
                  find(s.stages[1], ActionKind::forward, 2)->microbatch);
      },
      "of its channel"));
}

TEST(SimulatorFaults, WaitingInACircleIsADeadlockWithAnyTransport) {
  const auto late_send = [](Schedule& schedule) {  // stage 0 wants the gradient before it sends
    ActionList& list = schedule.stages[0];
    const auto send = find(list, ActionKind::send, 0);
    std::rotate(send, send + 1, find(list, ActionKind::wait_receive, 0) + 1);
  };
  EXPECT_TRUE(found(late_send, "deadlock; stage 0 waits at action"));
  EXPECT_NE(problem_after(late_send, Transport::buffered).find("(wait_receive gradient of chunk 0"),
            std::string::npos);
}

/// Every message is waited for at once and received when it is needed: everybody's first idea.
void block_everywhere(Schedule& schedule) {
  for (ActionList& list : schedule.stages) {
    const auto moved = [](const Action& action) {
      return action.kind == ActionKind::receive || action.kind == ActionKind::wait_send;
    };
    ActionList blocking;
    for (Action action : list) {
      const ActionKind kind = action.kind;
      if (kind == ActionKind::wait_receive) {
        action.kind = ActionKind::receive;
        blocking.push_back(action);
        action.kind = kind;
      }
      if (!moved(action)) {
        blocking.push_back(action);
      }
      if (kind == ActionKind::send) {
        action.kind = ActionKind::wait_send;
        blocking.push_back(action);
      }
    }
    list = blocking;
  }
}

TEST(SimulatorFaults, BlockingMessagesDeadlockWithoutBuffers) {
  EXPECT_EQ(problem_after(block_everywhere, Transport::buffered), "");
  EXPECT_TRUE(found(block_everywhere, "deadlock; stage 0 waits at action 5 (wait_send activation"));
}

}  // namespace simulator_test
}  // namespace mpitron::pipeline
