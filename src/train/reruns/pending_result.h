#pragma once
#include <optional>
#include <string>

#include "config/training_config.h"
#include "utils/shape.h"

namespace mpitron::train {

/// A rejected result that came out again when it was computed once more: another run, on other
/// machines, is to tell whether it is right.
struct PendingResult {
  Index iteration = 0;
  std::string name = {};  // "loss", "gradient norm"
  double value = 0;
  std::string complaint = {};
  bool fatal = false;
  std::string machines = {};  // that computed it
  std::optional<config::InjectedError> injected = std::nullopt;
};

/// One JSON object that keeps every bit of the value.
std::string to_json(const PendingResult& pending);
/// Error(data) for text of another form; `origin` (a file) is named in it.
PendingResult pending_result(const std::string& json, const std::string& origin);

}  // namespace mpitron::train
