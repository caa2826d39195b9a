#pragma once
#include <string>
#include <utility>
#include <vector>

#include "inference/tasks/choice_accuracy.h"
#include "inference/tasks/generated_answers.h"
#include "inference/tasks/zero_shot.h"

namespace mpitron::cli {

/// What one task found: the line that is printed, a JSON object, and the figures for a log.
struct TaskFigures {
  std::string line, json;
  std::vector<std::pair<std::string, double>> figures;
};

TaskFigures figures_of(const std::string& task, const inference::PerplexityResult& result);
TaskFigures figures_of(const std::string& task, const inference::CompletionResult& result);
TaskFigures figures_of(const std::string& task, const inference::ChoiceResult& result);
TaskFigures figures_of(const inference::EvaluationTask& task,
                       const inference::GenerationResult& result);

}  // namespace mpitron::cli
