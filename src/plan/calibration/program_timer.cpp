#include "plan/calibration/program_timer.h"

#include <algorithm>
#include <cmath>

#include "config/global_batch_size.h"
#include "plan/replay/rank_replay.h"
#include "train/step/train_step.h"
#include "utils/timer.h"

// Runs steps of a program with an observer of its launches, until another step would tell nothing
// new.

namespace mpitron::plan {
namespace {

constexpr Index kMostSteps = 4;
constexpr Index kMostStepsTogether = 9;
constexpr Index kLeastStepsTogether = 3;
constexpr double kAgreement = 0.03;  // steps that are so near to each other are of a quiet machine

/// A program of one rank of a world that can be stepped.
class SteppedProgram {
 public:
  SteppedProgram(device::Device& device, const config::RunConfig& run, comm::World& world)
      : run_(run),
        model_(device, run, world),
        timers_(0, config::TimingLogOption::max),
        step_(device, model_, run, timers_),
        next_(made_up_batches(run, model_)) {}

  void play(Index microbatches) {
    step_.run(++iteration_, microbatches, run_.training.global_batch_size, next_);
  }
  Index microbatches() const {
    return config::num_microbatches(run_.training, run_.parallel.data_parallel_size);
  }
  /// Returns the fewest that a schedule of this program takes.
  Index fewest_microbatches() const {
    return std::min(microbatches(), run_.parallel.pipeline_model_parallel_size);
  }

 private:
  const config::RunConfig& run_;
  train::TrainedModel model_;
  train::Timers timers_;
  train::TrainStep step_;
  train::NextMicrobatch next_;
  Index iteration_ = 0;
};

}  // namespace

double ProgramTimer::time(const config::RunConfig& run, Index rank, double seconds) {
  const auto all = world_.all();
  all->barrier();
  const Timer timer;
  const auto alone = comm::make_fake_world(rank, run.parallel.world_size);
  SteppedProgram program(device_, run, *alone);
  program.play(program.fewest_microbatches());  // memory is taken and kernels are made ready
  const LaunchTimes::Scope scope(times_, device_);
  double before = 0;
  for (Index step = 1; step <= kMostSteps; ++step) {
    const double inside = times_.seconds();
    const std::size_t launches = times_.launches();
    const Timer step_timer;
    program.play(program.microbatches());
    const double kernels = times_.seconds() - inside;
    around_.push_back(std::max(0.0, step_timer.seconds() - kernels) /
                      static_cast<double>(times_.launches() - launches));
    const bool agrees = std::abs(kernels - before) < kAgreement * kernels;
    before = kernels;
    // A rank that needs another step has company: alone on the machine it would be faster.
    if (all->reduce(agrees || timer.seconds() > seconds ? 1 : 0, comm::Reduction::minimum) > 0) {
      break;
    }
  }
  return timer.seconds();
}

double ProgramTimer::step_together(const config::RunConfig& run, double seconds) {
  const auto all = world_.all();
  SteppedProgram program(device_, run, world_);
  program.play(program.microbatches());
  std::vector<double> steps;
  double sum = 0;
  for (Index i = 0; i < kMostStepsTogether; ++i) {
    all->barrier();
    const Timer timer;
    program.play(program.microbatches());
    steps.push_back(all->reduce(timer.seconds(), comm::Reduction::maximum));
    sum += steps.back();
    if (i + 1 >= kLeastStepsTogether && sum > seconds) {
      break;
    }
  }
  return median(std::move(steps));
}

}  // namespace mpitron::plan
