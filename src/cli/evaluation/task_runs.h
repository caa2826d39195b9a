#pragma once
#include <optional>
#include <string>

#include "cli/evaluation/task_figures.h"
#include "train/session/session.h"

namespace mpitron::cli {

/// A task and the file that it is measured on.
struct TaskRequest {
  std::string task;  // WIKITEXT103, PTB, LAMBADA, or a YAML file
  std::string data;
  std::string examples;                   // where examples come from; empty: the data
  std::optional<Index> num_fewshot = {};  // absent: as the task's file says
  Index stride = 32;                      // of windows: --overlapping-eval
  bool strict = false;                    // --strict-lambada
};

/// Error(usage) for a name that is no task.
void check_task(const std::string& task);

/// "TASK=FILE" of --eval-tasks; Error(usage) where one of them is missing.
TaskRequest task_request(const std::string& text);

/// Measures a run's model in its layout; all ranks call it alike and get the same figures.
/// Error(data) names file and line.
TaskFigures run_task(const TaskRequest& request, device::Device& device, train::Session& session);

}  // namespace mpitron::cli
