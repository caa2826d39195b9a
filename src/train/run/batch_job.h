#pragma once
#include <chrono>
#include <optional>
#include <string>

namespace mpitron::train {

/// When the batch system ends this job: SLURM_JOB_END_TIME, seconds since 1970, which
/// jobs/launch.sh sets where Slurm does not. Nothing without it; Error(environment) where it is no
/// number.
std::optional<std::chrono::system_clock::time_point> batch_job_end();
/// SLURM_JOB_ID; empty outside of a job.
std::string batch_job_id();

}  // namespace mpitron::train
