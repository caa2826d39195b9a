#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/run_progress.h"
#include "report/status_text.h"

// What a status tells programs, and durations.

namespace mpitron::report {

/// Writes the facts for scripts.
std::string status_json(const RunFolder& run, std::filesystem::file_time_type now) {
  const RunProgress p = progress_of(run, now);
  const nlohmann::ordered_json json = {{"name", run.name},
                                       {"state", p.state},
                                       {"reason", p.reason},
                                       {"iteration", p.iteration},
                                       {"train_iters", p.train_iters},
                                       {"silent_seconds", p.silent_seconds},
                                       {"seconds_per_iteration", p.seconds_per_iteration},
                                       {"tokens_per_second", p.tokens_per_second},
                                       {"tflops_per_rank", p.tflops_per_rank},
                                       {"tokens", p.tokens},
                                       {"seconds_left", p.seconds_left},
                                       {"loss", run.metrics.last(run.metrics.loss_name())},
                                       {"validation_loss", p.validation_loss},
                                       {"validation_iteration", p.validation_iteration},
                                       {"grad_norm", run.metrics.last("grad-norm")},
                                       {"learning_rate", run.metrics.last("learning-rate")},
                                       {"world_size", run.description.world_size},
                                       {"busy_seconds",
                                        {{"min", run.metrics.last("busy-seconds-min")},
                                         {"median", run.metrics.last("busy-seconds-median")},
                                         {"max", run.metrics.last("busy-seconds-max")},
                                         {"slowest_rank", run.metrics.last("slowest-rank")}}},
                                       {"memory_mib_max", run.metrics.last("memory-mib-max")}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Writes two units at most: a third would change at every look.
std::string readable_duration(double seconds) {
  constexpr long kMinute = 60, kHour = 3600, kDay = 86400;
  const long whole = std::lround(seconds);
  if (whole < kMinute) {
    return fmt::format("{} s", whole);
  }
  if (whole < kHour) {
    return fmt::format("{} min {:02} s", whole / kMinute, whole % kMinute);
  }
  if (whole < kDay) {
    return fmt::format("{} h {:02} min", whole / kHour, whole % kHour / kMinute);
  }
  return fmt::format("{} d {:02} h", whole / kDay, whole % kDay / kHour);
}

}  // namespace mpitron::report
