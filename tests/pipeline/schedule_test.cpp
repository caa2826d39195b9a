#include "pipeline/schedule.h"

#include <map>

#include <gtest/gtest.h>

#include "pipeline/virtual_stages.h"
#include "utils/error.h"

namespace mpitron::pipeline {
namespace schedule_test {

/// The smallest executor: plays all lists in one thread, stage by stage as far as each gets, with
/// numbers as hidden states and a mailbox per channel.
class Player {
 public:
  using Callbacks = std::vector<StageCallbacks<double>>;

  Player(const Schedule& schedule, const Callbacks& callbacks)
      : schedule_(schedule), callbacks_(callbacks), next_(schedule.stages.size()) {}

  void play() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t s = 0; s < next_.size(); ++s) {
        while (next_[s] < schedule_.stages[s].size() &&
               play(static_cast<Index>(s), schedule_.stages[s][next_[s]])) {
          ++next_[s];
          moved = true;
        }
      }
    }
    for (std::size_t s = 0; s < next_.size(); ++s) {
      ASSERT_EQ(next_[s], schedule_.stages[s].size()) << "stage " << s << " did not finish";
    }
  }

 private:
  using Key = std::tuple<Index, Payload, Index, Index>;  // stage, payload, chunk, microbatch
  using Channel = std::tuple<Index, Index, Payload>;     // from, to

  bool play(Index stage, const Action& a) {
    const StageCallbacks<double>& model = callbacks_[static_cast<std::size_t>(stage)];
    const Key input{stage, Payload::activation, a.chunk, a.microbatch};
    const Key gradient{stage, Payload::gradient, a.chunk, a.microbatch};
    switch (a.kind) {
      case ActionKind::forward:
        made_[input] = model.forward(a.chunk, a.microbatch, received_[input]);
        return true;
      case ActionKind::backward:
      case ActionKind::backward_input:
        made_[gradient] = model.backward(a.chunk, a.microbatch, received_[gradient],
                                         a.kind == ActionKind::backward);
        return true;
      case ActionKind::backward_weight:
        model.backward_weight(a.chunk, a.microbatch);
        return true;
      case ActionKind::send:
        mail_[{stage, a.peer_stage, a.payload}].push_back(
            made_.at({stage, a.payload, a.chunk, a.microbatch}));
        return true;
      case ActionKind::wait_receive:
        return take_mail(stage, a);
      default:
        return true;
    }
  }

  bool take_mail(Index stage, const Action& a) {
    std::vector<double>& mail = mail_[{a.peer_stage, stage, a.payload}];
    if (mail.empty()) {
      return false;
    }
    received_[{stage, a.payload, a.chunk, a.microbatch}] = mail.front();
    mail.erase(mail.begin());
    return true;
  }

  const Schedule& schedule_;
  const Callbacks& callbacks_;
  std::vector<std::size_t> next_;
  std::map<Key, double> made_, received_;
  std::map<Channel, std::vector<double>> mail_;
};

/// Virtual stage v multiplies by weight v + 2; the data of microbatch m is m + 1; the loss is the
/// last output. So the gradient of weight v is sum(m + 1) * product of the other weights.
class Product {
 public:
  explicit Product(const ScheduleOptions& options)
      : ring_{options.stages, options.chunks},
        microbatches_(options.microbatches),
        gradients_(static_cast<std::size_t>(ring_.count())) {}

  Player::Callbacks callbacks() {
    Player::Callbacks all;
    for (Index stage = 0; stage < ring_.stages; ++stage) {
      all.push_back(
          {.forward =
               [this, stage](Index chunk, Index m, double input) {
                 const Index v = ring_.number(stage, chunk);
                 inputs_[{v, m}] = v == 0 ? static_cast<double>(m + 1) : input;
                 return inputs_[{v, m}] * weight(v);
               },
           .backward =
               [this, stage](Index chunk, Index m, double gradient, bool with_weights) {
                 const Index v = ring_.number(stage, chunk);
                 outer_[{v, m}] = v + 1 == ring_.count() ? 1.0 : gradient;
                 if (with_weights) {
                   accumulate(v, m);
                 }
                 return outer_[{v, m}] * weight(v);
               },
           .backward_weight =
               [this, stage](Index chunk, Index m) { accumulate(ring_.number(stage, chunk), m); }});
    }
    return all;
  }

  void check() const {
    double data = 0;
    for (Index m = 0; m < microbatches_; ++m) {
      data += static_cast<double>(m + 1);
    }
    for (Index v = 0; v < ring_.count(); ++v) {
      double expected = data;
      for (Index other = 0; other < ring_.count(); ++other) {
        expected *= other == v ? 1.0 : weight(other);
      }
      EXPECT_DOUBLE_EQ(gradients_[static_cast<std::size_t>(v)], expected) << v;
    }
  }

 private:
  static double weight(Index v) { return static_cast<double>(v + 2); }
  void accumulate(Index v, Index m) {
    gradients_[static_cast<std::size_t>(v)] += inputs_.at({v, m}) * outer_.at({v, m});
  }

  VirtualStages ring_;
  Index microbatches_;
  std::vector<double> gradients_;
  std::map<std::pair<Index, Index>, double> inputs_, outer_;
};

std::string error_of(const ScheduleOptions& options) {
  try {
    make_schedule(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(Schedule, PlayedWithNumbersGivesTheGradients) {
  const ScheduleOptions all[] = {
      {.kind = ScheduleKind::no_pipelining, .microbatches = 3},
      {.kind = ScheduleKind::one_forward_one_backward, .stages = 4, .microbatches = 7},
      {.kind = ScheduleKind::one_forward_one_backward, .stages = 4, .microbatches = 2},
      {.kind = ScheduleKind::interleaved, .stages = 2, .chunks = 3, .microbatches = 6},
      {.kind = ScheduleKind::interleaved,
       .stages = 3,
       .chunks = 2,
       .microbatches = 10,
       .microbatch_group_size_per_virtual_stage = 5},
      {.kind = ScheduleKind::zero_bubble, .stages = 4, .microbatches = 8},
  };
  for (ScheduleOptions options : all) {
    for (const bool overlapped : {true, false}) {
      options.overlap_p2p_comm = overlapped;
      Product product(options);
      const Schedule schedule = make_schedule(options);
      const Player::Callbacks callbacks = product.callbacks();
      Player(schedule, callbacks).play();
      product.check();
    }
  }
}

TEST(Schedule, ForwardOnlyHasNoBackward) {
  const Schedule schedule = make_schedule({.stages = 3, .microbatches = 4, .forward_only = true});
  for (const ActionList& list : schedule.stages) {
    Index forwards = 0;
    for (const Action& action : list) {
      EXPECT_TRUE(!action.is_compute() || action.kind == ActionKind::forward);
      EXPECT_NE(action.payload, Payload::gradient);
      forwards += action.kind == ActionKind::forward ? 1 : 0;
    }
    EXPECT_EQ(forwards, 4);
  }
}

TEST(Schedule, OptionsFollowTheConfiguration) {
  config::ParallelConfig parallel;
  parallel.pipeline_model_parallel_size = 2;
  parallel.microbatch_group_size_per_vp_stage = 3;
  ScheduleOptions options = make_schedule_options(parallel, make_stage_layout(parallel, 4), 6);
  EXPECT_EQ(options.kind, ScheduleKind::one_forward_one_backward);
  EXPECT_TRUE(options.overlap_p2p_comm);
  parallel.virtual_pipeline_model_parallel_size = 2;
  options = make_schedule_options(parallel, make_stage_layout(parallel, 4), 6);
  EXPECT_EQ(options.kind, ScheduleKind::interleaved);
  EXPECT_EQ(options.chunks, 2);
  EXPECT_EQ(options.microbatches, 6);
  EXPECT_EQ(options.group_size(), 3);
  EXPECT_FALSE(options.overlap_p2p_comm);
  EXPECT_EQ(default_kind(1, 1), ScheduleKind::no_pipelining);
}

TEST(Schedule, TheKindMayBeAskedFor) {
  using enum config::PipelineSchedule;
  config::ParallelConfig parallel;
  parallel.pipeline_model_parallel_size = 2;
  const auto kind = [&](config::PipelineSchedule schedule) {
    parallel.pipeline_schedule = schedule;
    return make_schedule_options(parallel, make_stage_layout(parallel, 4), 6).kind;
  };
  EXPECT_EQ(kind(zero_bubble), ScheduleKind::zero_bubble);
  EXPECT_EQ(kind(one_forward_one_backward), ScheduleKind::one_forward_one_backward);
  EXPECT_THROW(kind(interleaved), Error);
  parallel.pipeline_model_parallel_layout = "E|tt|t|tL";
  EXPECT_EQ(kind(interleaved), ScheduleKind::interleaved);
  EXPECT_THROW(kind(one_forward_one_backward), Error);
}

TEST(Schedule, RefusesCountsBelowOne) {
  EXPECT_NE(error_of({.stages = 0}).find("at least 1 stage"), std::string::npos);
  EXPECT_NE(error_of({.microbatches = 0}).find("--global-batch-size"), std::string::npos);
  EXPECT_NE(error_of({.microbatch_group_size_per_virtual_stage = -1}).find("group size"),
            std::string::npos);
}

TEST(Schedule, ActionsAndKindsReadAsWords) {
  EXPECT_EQ(describe({.kind = ActionKind::backward_input, .chunk = 1, .microbatch = 2}),
            "backward_input of chunk 1, microbatch 2");
  EXPECT_EQ(describe({.kind = ActionKind::wait_receive,
                      .payload = Payload::gradient,
                      .chunk = 0,
                      .microbatch = 3,
                      .peer_stage = 1,
                      .peer_chunk = 0}),
            "wait_receive gradient of chunk 0, microbatch 3, from stage 1 chunk 0");
  EXPECT_EQ(to_string(ScheduleKind::zero_bubble), "zero-bubble");
}

}  // namespace schedule_test
}  // namespace mpitron::pipeline
