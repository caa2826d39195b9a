// Reads what the batch system says of the job: its end and its name.
#include "train/run/batch_job.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "utils/error.h"

namespace mpitron::train {

/// Reads the end as Slurm tells its jobs; absent outside of one.
std::optional<std::chrono::system_clock::time_point> batch_job_end() {
  const char* const given = std::getenv("SLURM_JOB_END_TIME");
  if (given == nullptr || *given == '\0') {
    return std::nullopt;
  }
  const std::string_view text = given;
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw_environment("SLURM_JOB_END_TIME is '{}': expected seconds since 1970, or unset it", text);
  }
  return std::chrono::system_clock::time_point(std::chrono::seconds(seconds));
}

std::string batch_job_id() {
  const char* const given = std::getenv("SLURM_JOB_ID");
  return given != nullptr ? given : "";
}

}  // namespace mpitron::train
