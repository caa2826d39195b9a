#pragma once
#include <chrono>
#include <optional>

namespace mpitron::train {

/// When the batch system ends this job: SLURM_JOB_END_TIME, seconds since 1970, which
/// jobs/launch.sh sets where Slurm does not. Nothing without it; Error(environment) where it is no
/// number.
std::optional<std::chrono::system_clock::time_point> batch_job_end();

}  // namespace mpitron::train
