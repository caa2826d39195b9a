#include "plan/calibration/calibration.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "config/global_batch_size.h"
#include "config/parse/parse.h"
#include "plan/calibration/launch_times.h"
#include "plan/replay/rank_replay.h"
#include "train/step/train_step.h"

// Measures a host for `mpitron doctor --calibrate`: times of kernels within small programs and of
// operations among ranks, by which `mpitron plan` predicts steps on it.

namespace mpitron::plan {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Index kTimedSteps = 4;
constexpr int kRepetitions = 12;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Times the steps of one rank of a program, its peers left out. For each step, `around` gets the
/// seconds spent outside of kernels, divided by the number of launches.
void time_program(device::Device& device, const config::RunConfig& run, Index rank,
                  LaunchTimes& times, std::vector<double>& around) {
  const auto alone = comm::make_fake_world(rank, run.parallel.world_size);
  train::TrainedModel model(device, run, *alone);
  train::Timers timers(0, config::TimingLogOption::max);
  train::TrainStep step(device, model, run, timers);
  const train::NextMicrobatch next = made_up_batches(run, model);
  const Index microbatches =
      config::num_microbatches(run.training, run.parallel.data_parallel_size);
  const auto play = [&](Index iteration) {
    step.run(iteration, microbatches, run.training.global_batch_size, next);
  };
  play(1);  // memory is taken and kernels are made ready
  const LaunchTimes::Scope scope(times, device);
  for (Index i = 2; i < 2 + kTimedSteps; ++i) {
    const double inside = times.seconds();
    const std::size_t launches = times.launches();
    const Clock::time_point begin = Clock::now();
    play(i);
    const double outside = seconds_since(begin) - (times.seconds() - inside);
    around.push_back(std::max(0.0, outside) / static_cast<double>(times.launches() - launches));
  }
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

/// One operation of a group, on `bytes` of fp32.
class OperationTimer {
 public:
  OperationTimer(device::Device& device, comm::Group& group, Index bytes)
      : group_(group),
        /// Rounded down to whole pieces of all members.
        count_(bytes / 4 / group.size() * group.size()),
        whole_(tensor::Tensor::empty(device, {count_}, DType::f32)),
        other_(tensor::Tensor::empty(device, {count_}, DType::f32)),
        piece_(tensor::Tensor::empty(device, {count_ / group.size()}, DType::f32)) {}

  /// Returns the median of the repetitions, each begun by all members together.
  double time(comm::CollectiveKind kind) {
    std::vector<double> times;
    for (int i = 0; i < kRepetitions; ++i) {
      group_.barrier();
      const Clock::time_point begin = Clock::now();
      run(kind);
      times.push_back(seconds_since(begin));
    }
    return median(std::move(times));
  }

 private:
  void run(comm::CollectiveKind kind) {
    using enum comm::CollectiveKind;
    const Index next = (group_.rank() + 1) % group_.size();
    const Index previous = (group_.rank() + group_.size() - 1) % group_.size();
    switch (kind) {
      case all_reduce:
        return group_.all_reduce(whole_.view()).wait();
      case reduce_scatter:
        return group_.reduce_scatter(whole_.view(), piece_.view()).wait();
      case all_gather:
        return group_.all_gather(piece_.view(), whole_.view()).wait();
      case all_to_all:
        return group_.all_to_all(whole_.view(), other_.view()).wait();
      case broadcast:
        return group_.broadcast(whole_.view(), 0).wait();
      case barrier:
        return group_.barrier();
      case send:
      case receive: {
        comm::Work sent = group_.send(whole_.view(), next);
        group_.receive(other_.view(), previous).wait();
        return sent.wait();
      }
    }
  }

  comm::Group& group_;
  Index count_;
  tensor::Tensor whole_, other_, piece_;
};

/// Times each operation for sizes that grow by factors of 4: between them times are interpolated.
void time_operations(device::Device& device, comm::World& world, MeasuredCosts& costs) {
  using enum comm::CollectiveKind;
  const auto group = world.all();
  if (group->size() == 1) {
    return;
  }
  for (Index bytes = 1024; bytes <= Index{64} << 20; bytes *= 4) {
    OperationTimer timer(device, *group, bytes);
    for (const comm::CollectiveKind kind :
         {all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, send, receive}) {
      costs.add(TimedOperation{kind, group->size(), bytes, timer.time(kind)});
    }
  }
}

/// The sizes of a calibration program's model.
struct ProgramShape {
  Index hidden, heads, sequence, batch, vocabulary;
};
constexpr std::array<ProgramShape, 4> kShapes = {{{256, 4, 256, 4, 8192},
                                                  {512, 8, 512, 2, 16384},
                                                  {768, 12, 1024, 1, 50304},
                                                  {1024, 16, 512, 4, 32768}}};

std::vector<std::string> flags_of(const ProgramShape& shape, bool narrow, bool llama) {
  const auto text = [](Index value) { return std::to_string(value); };
  std::vector<std::string> flags = {"--num-layers",
                                    "2",
                                    "--hidden-size",
                                    text(shape.hidden),
                                    "--num-attention-heads",
                                    text(shape.heads),
                                    "--seq-length",
                                    text(shape.sequence),
                                    "--max-position-embeddings",
                                    text(shape.sequence),
                                    "--micro-batch-size",
                                    text(shape.batch),
                                    "--global-batch-size",
                                    text(2 * shape.batch),
                                    "--train-iters",
                                    "10",
                                    "--lr",
                                    "1e-5",
                                    "--tokenizer-type",
                                    "NullTokenizer",
                                    "--vocab-size",
                                    text(shape.vocabulary - 1),
                                    "--mock-data"};
  if (narrow) {
    flags.push_back("--bf16");
  }
  if (llama) {
    flags.insert(flags.end(), {"--swiglu", "--normalization", "RMSNorm", "--disable-bias-linear",
                               "--position-embedding-type", "rope", "--group-query-attention",
                               "--num-query-groups", text(shape.heads / 4),
                               "--untie-embeddings-and-output-weights", "--hidden-dropout", "0",
                               "--attention-dropout", "0"});
  }
  return flags;
}

}  // namespace

std::vector<config::RunConfig> calibration_programs() {
  std::vector<config::RunConfig> programs;
  for (const ProgramShape& shape : kShapes) {
    for (const bool narrow : {false, true}) {
      for (const bool llama : {false, true}) {
        programs.push_back(config::parse_valid_run(flags_of(shape, narrow, llama)).run);
        programs.back().model.padded_vocab_size = shape.vocabulary;
      }
    }
  }
  return programs;
}

/// The first and the last rank of each program are timed: ranks in different stages, or with
/// different parts of the gradients, may launch different kernels.
MeasuredCosts calibrate(device::Device& device, comm::World& world,
                        const std::vector<config::RunConfig>& programs) {
  MeasuredCosts costs;
  LaunchTimes times;
  std::vector<double> around;
  for (const config::RunConfig& run : programs) {
    for (Index rank = 0; rank < run.parallel.world_size;
         rank += std::max<Index>(1, run.parallel.world_size - 1)) {
      world.all()->barrier();
      time_program(device, run, rank, times, around);
    }
  }
  for (TimedKernel& kernel : times.kernels(world.size())) {
    costs.add(std::move(kernel));
  }
  costs.set_launch(world.size(), median(around));
  time_operations(device, world, costs);
  return costs;
}

PlayedJob measured_step(const MeasuredCosts& costs, const config::RunConfig& run) {
  const Index ranks = run.parallel.world_size;
  const JobRecord job = record_job(run, {.steps = 1, .seconds = [&](const auto& launch) {
                                           return costs.seconds(launch, ranks);
                                         }});
  return play(job, {.seconds = [&](const comm::GroupEvent& event, Index members) {
                const auto bytes =
                    static_cast<Index>(size_of(event.dtype)) * std::max(event.sent, event.received);
                return costs.seconds(event.kind, members, bytes);
              }});
}

}  // namespace mpitron::plan
