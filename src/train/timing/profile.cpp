// Writes what a profile recorded in Chrome's trace format. Clocks of ranks are compared when the
// profile is made, so that the files of all ranks share one time axis.
#include "train/timing/profile.h"

#include <algorithm>

#include "device/device.h"
#include "io/logs/trace_file.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"

namespace mpitron::train {

Profile::Profile(device::Device& device, comm::World& world, const config::TrainingConfig& config,
                 std::shared_ptr<Trace> trace)
    : device_(device),
      world_(world),
      config_(config),
      trace_(trace != nullptr ? std::move(trace) : std::make_shared<Trace>()) {
  if (!config.profile) {
    return;
  }
  for (const Index rank : config.profile_ranks) {
    takes_part_ = takes_part_ || rank == world.rank();
  }
  clock_ = comm::measure_clock(world, config.profile_ranks);
  if (takes_part_) {
    make_folder("--profile-dir", config.profile_dir);
  }
}

Profile::~Profile() {
  try_to_write();
}

/// Writes the profile; a training does not end where that fails.
void Profile::try_to_write() {
  try {
    write();
  } catch (const std::exception& error) {
    log::error("--profile: {}", error.what());
  }
}

/// Begins as the reference does: iteration START + 1 is the first one, iteration END the last.
void Profile::begin_step(Index iteration) {
  if (!takes_part_ || iteration <= config_.profile_step_start ||
      iteration > config_.profile_step_end) {
    return;
  }
  if (!launches_) {
    trace_->start();
    if constexpr (device::kHasCuda) {
      gpu_profiler_ = device::make_gpu_profiler();
      trace_->tell(gpu_profiler_.get());
    }
    launches_.emplace(device_, *trace_);
    first_ = iteration;
  }
  step_began_ = Trace::now();
}

void Profile::end_step(Index iteration) {
  if (!launches_) {
    return;
  }
  trace_->add({.kind = TraceKind::iteration,
               .name = trace_name("step"),
               .begin = step_began_,
               .end = Trace::now(),
               .number = iteration});
  last_ = iteration;
  if (iteration >= config_.profile_step_end) {
    try_to_write();
  }
}

void Profile::write() {
  if (!launches_) {
    return;
  }
  launches_.reset();
  trace_->tell(nullptr);
  gpu_profiler_.reset();
  const std::vector<TraceSpan> spans = trace_->stop();
  const std::filesystem::path folder = config_.profile_dir;
  const std::filesystem::path path = folder / io::trace_file_name(world_.rank());
  io::write_trace(path,
                  {.rank = world_.rank(),
                   .ranks = world_.size(),
                   .host = world_.host(world_.rank()),
                   .first_iteration = first_,
                   .last_iteration = last_,
                   .clock_offset_ns = clock_.offset,
                   .clock_uncertainty_ns = clock_.uncertainty,
                   .dropped_spans = trace_->dropped()},
                  spans, clock_.origin - clock_.offset);
  log::info(
      "--profile: iterations {} to {} are in {} ({} spans); `mpitron trace summary {}` "
      "tells where the time went",
      first_, last_, path.string(), spans.size(), folder.string());
  if (trace_->dropped() > 0) {
    log::warning(
        "--profile: {} spans found no room in {} and are missing at the end: profile "
        "fewer steps (--profile-step-end)",
        trace_->dropped(), path.string());
  }
}

}  // namespace mpitron::train
