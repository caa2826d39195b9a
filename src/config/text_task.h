#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// The output of a head on whole texts: how likely each class is, a number, or which of several
/// texts is right (one number for each).
struct TextHead {
  Index outputs = 2;  // of the linear layer
  Index choices = 1;  // texts of a sample, of which one is right
  bool score = false;

  /// Numbers that the head gives for a sample.
  Index columns() const { return outputs * choices; }
};

/// Measures that GLUE reports of a task.
enum class TaskMetric { accuracy, f1, matthews, correlation };

/// A task of `mpitron finetune`.
struct TextTask {
  std::string_view name;  // as --task has it
  TextHead head;
  TaskMetric metric = TaskMetric::accuracy;  // that is told beside the accuracy
};

/// Returns null where there is no such task.
const TextTask* find_text_task(std::string_view name);

/// The task and files of a run of `mpitron finetune`.
struct TextTaskConfig {
  std::string name;
  Index epochs = 1;
  bool keep_last = false;                  // batches at the end of an epoch that are not whole
  std::vector<std::string> train, valid;   // files; of RACE folders
  std::optional<std::string> predictions;  // where those on the validation files go
};

}  // namespace mpitron::config
