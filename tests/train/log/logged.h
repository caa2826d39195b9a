#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "train/log/training_log.h"
#include "train/mock_training.h"
#include "utils/system/files.h"

// What a log has written.

namespace mpitron::train {

/// A log and what it reads from: a step that has not run yet.
struct Logged {
  explicit Logged(const std::vector<std::string>& flags)
      : tiny(flags),
        timers(0, config::TimingLogOption::max),
        step(*tiny.device, *tiny.model, tiny.config, timers),
        log(tiny.config, timers) {}

  /// What iteration `i` with this loss prints.
  std::string iteration(Index i, double loss, bool skipped = false) {
    ::testing::internal::CaptureStdout();
    log.iteration({i, 4 * i, 4},
                  {.loss_sum = 2 * loss, .loss_count = 2, .grad_norm = 0.5, .skipped = skipped},
                  step);
    return ::testing::internal::GetCapturedStdout();
  }

  MockTraining tiny;
  Timers timers;
  TrainStep step;
  TrainingLog log;
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The lines of metrics.jsonl joined by step.
inline nlohmann::json metrics_of(const std::string& folder, Index step) {
  std::istringstream lines(read_file(folder + "/metrics.jsonl"));
  nlohmann::json row = nlohmann::json::object();
  for (std::string line; std::getline(lines, line);) {
    const auto part = nlohmann::json::parse(line);
    if (part.at("step") == step) {
      row.update(part);
    }
  }
  return row;
}

}  // namespace mpitron::train
