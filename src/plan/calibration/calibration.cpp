#include "plan/calibration/calibration.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plan/calibration/calibration_programs.h"
#include "plan/calibration/operation_timer.h"
#include "plan/calibration/program_timer.h"
#include "utils/timer.h"

// Measures a host for `mpitron doctor --calibrate`: times of kernels within small programs and of
// operations among ranks, by which `mpitron plan` predicts steps on it.

namespace mpitron::plan {
namespace {

constexpr double kOperationsShare = 0.15;  // of a calibration's time
constexpr double kTogetherShare = 0.15;    // of it, for ranks that meet
constexpr double kLonger = 2;              // a program's need of time, beside the one before
constexpr double kTellingSeconds = 5;      // between two words of progress

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

/// Times programs whose ranks meet, and notes how much longer they take than replays say that know
/// of no company: the rest is what sums among the ranks cost their kernels.
void time_together(ProgramTimer& timer, comm::World& world, double seconds, MeasuredCosts& costs) {
  if (world.size() == 1) {
    return;
  }
  const std::vector<config::RunConfig> programs = tensor_programs(world.size());
  double logarithms = 0;
  for (const config::RunConfig& run : programs) {
    const double step = timer.step_together(run, seconds / static_cast<double>(programs.size()));
    logarithms += std::log(step / measured_step(costs, run).seconds);
  }
  if (!programs.empty()) {
    costs.set_together(world.size(), std::exp(logarithms / static_cast<double>(programs.size())));
  }
}

/// Hands out a calibration's time to programs and tells how far it is.
class Schedule {
 public:
  Schedule(comm::World& world, const CalibrationOptions& options, std::size_t programs)
      : world_(world),
        options_(options),
        programs_(programs),
        seconds_(options.seconds * (world.size() > 1 ? 1 - kOperationsShare - kTogetherShare : 1)) {
  }

  /// Returns the seconds for the next of the programs left, by rank 0's clock, the same on every
  /// rank; 0 where the time is over, which it is never before the first.
  double share() {
    const double now = world_.rank() == 0 ? timer_.seconds() : 0;
    const double left = seconds_ - world_.all()->reduce(now, comm::Reduction::maximum);
    const bool fits = done_ == 0 || left > longest_;
    const auto behind = static_cast<double>(programs_ - done_ - 1);
    return fits ? std::max(0.001, left / (1 + kLonger * behind)) : 0;
  }

  /// Notes that a program has taken so long at least: those behind it do, too.
  void note(double seconds) {
    longest_ = std::max(longest_, world_.all()->reduce(seconds, comm::Reduction::maximum));
    ++done_;
    const double now = timer_.seconds();
    if (options_.tell && world_.rank() == 0 && now >= told_ + kTellingSeconds) {
      told_ = now;
      options_.tell(
          fmt::format("calibration: {} of {} programs in {:.0f} s, at most {:.0f} s to go", done_,
                      programs_, now, std::max(0.0, options_.seconds - now)));
    }
  }

  std::size_t done() const { return done_; }

 private:
  comm::World& world_;
  const CalibrationOptions& options_;
  std::size_t programs_;
  double seconds_;
  Timer timer_;
  double told_ = 0;
  double longest_ = 0;
  std::size_t done_ = 0;
};

}  // namespace

/// The first and the last rank of each program are timed: ranks in different stages, or with
/// different parts of the gradients, may launch different kernels.
Calibration calibrate(device::Device& device, comm::World& world,
                      const std::vector<config::RunConfig>& programs,
                      const CalibrationOptions& options) {
  ProgramTimer timer(device, world);
  Schedule schedule(world, options, programs.size());
  for (const config::RunConfig& run : programs) {
    const double seconds = schedule.share();
    if (seconds == 0) {
      break;
    }
    const Index last = run.parallel.world_size - 1;
    double took = timer.time(run, 0, last > 0 ? seconds / 2 : seconds);
    if (last > 0) {
      took += timer.time(run, last, seconds / 2);
    }
    schedule.note(took);
  }
  Calibration result{.programs = schedule.done()};
  for (TimedKernel& kernel : timer.times().kernels(world.size())) {
    result.costs.add(std::move(kernel));
  }
  result.costs.set_launch(world.size(), timer.around_launch());
  time_operations(device, world, result.costs);
  time_together(timer, world, kTogetherShare * options.seconds, result.costs);
  return result;
}

PlayedJob measured_step(const MeasuredCosts& costs, const config::RunConfig& run) {
  const Index ranks = run.parallel.world_size, tensor = run.parallel.tensor_model_parallel_size;
  const double longer = tensor > 1 ? costs.together(tensor) : 1;
  const JobRecord job = record_job(run, {.steps = 1, .seconds = [&](const auto& launch) {
                                           return longer * costs.seconds(launch, ranks);
                                         }});
  return play(job, {.seconds = [&](const comm::GroupEvent& event, Index members) {
                const auto bytes =
                    static_cast<Index>(size_of(event.dtype)) * std::max(event.sent, event.received);
                return costs.seconds(event.kind, members, bytes);
              }});
}

}  // namespace mpitron::plan
