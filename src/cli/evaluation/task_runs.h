#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/evaluation/cache_types.h"
#include "inference/tasks/choice_accuracy.h"
#include "inference/tasks/generated_answers.h"
#include "inference/tasks/window_scorer.h"
#include "inference/tasks/zero_shot.h"
#include "inference/uncached_engine.h"
#include "train/session/session.h"

namespace mpitron::cli {

/// Results of one task: the line that is printed, a JSON object, and the figures for a log.
struct TaskFigures {
  std::string line, json;
  std::vector<std::pair<std::string, double>> figures;
};

TaskFigures figures_of(const std::string& task, const inference::PerplexityResult& result);
TaskFigures figures_of(const std::string& task, const inference::CompletionResult& result);
TaskFigures figures_of(const std::string& task, const inference::ChoiceResult& result);
TaskFigures figures_of(const inference::EvaluationTask& task,
                       const inference::GenerationResult& result);

/// A task and the file that it is measured on.
struct TaskRequest {
  std::string task;  // WIKITEXT103, PTB, LAMBADA, or a YAML file
  std::string data;
  std::string examples;                   // where examples come from; empty: the data
  std::optional<Index> num_fewshot = {};  // absent: as the task's file says
  Index stride = 32;                      // of windows: --overlapping-eval
  bool strict = false;                    // --strict-lambada
  CacheTypes types = {};                  // of generated answers
};

/// Error(usage) for a name that is no task.
void check_task(const std::string& task);

/// "TASK=FILE" of --eval-tasks; Error(usage) where one of them is missing.
TaskRequest task_request(const std::string& text);

/// Measures a run's model in its layout; all ranks call it alike and get the same figures.
/// Error(data) names file and line.
TaskFigures run_task(const TaskRequest& request, device::Device& device, train::Session& session);
/// Measures a model that only generates. Error(usage) for tasks whose answers are not generated.
TaskFigures run_task(const TaskRequest& request, inference::Engine& engine,
                     const config::ModelConfig& model, const tokenizers::Tokenizer& tokenizer);

/// Scores windows by the passes of a run's model, whatever layout it lies in; its replicas share
/// the windows. All ranks make one and call it alike; `session` outlives it.
inference::WindowScorer make_layout_scorer(device::Device& device, train::Session& session);

/// Generates by the same passes, without a cache; every rank gets the same answers.
std::unique_ptr<inference::Engine> make_layout_engine(train::Session& session);

}  // namespace mpitron::cli
