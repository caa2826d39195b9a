#include "config/text_task.h"

#include <algorithm>
#include <array>

// Tasks of `mpitron finetune`: GLUE's and RACE, with their heads and the measure beside accuracy
// that the benchmark reports (Wang et al. 2018; Lai et al. 2017).

namespace mpitron::config {

const TextTask* find_text_task(std::string_view name) {
  using enum TaskMetric;
  static constexpr std::array kTasks = {
      TextTask{"MNLI", {.outputs = 3}},
      TextTask{"QQP", {.outputs = 2}, f1},
      TextTask{"RACE", {.outputs = 1, .choices = 4}},
      TextTask{"CoLA", {.outputs = 2}, matthews},
      TextTask{"SST-2", {.outputs = 2}},
      TextTask{"MRPC", {.outputs = 2}, f1},
      TextTask{"STS-B", {.outputs = 1, .score = true}, correlation},
      TextTask{"QNLI", {.outputs = 2}},
      TextTask{"RTE", {.outputs = 2}},
      TextTask{"WNLI", {.outputs = 2}},
  };
  const auto* const task = std::ranges::find(kTasks, name, &TextTask::name);
  return task == kTasks.end() ? nullptr : task;
}

}  // namespace mpitron::config
