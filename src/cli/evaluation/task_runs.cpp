#include "cli/evaluation/task_runs.h"

#include <algorithm>

#include "cli/evaluation/task_answers.h"
#include "cli/image_prompts.h"
#include "utils/log.h"

// From the name of a task to its figures: perplexity (WIKITEXT103, PTB) and LAMBADA score windows
// of a text, a task's YAML file asks questions whose answers are scored or generated.

namespace mpitron::cli {
namespace {

bool names_task_file(const std::string& task) {
  return task.ends_with(".yaml") || task.ends_with(".yml");
}

/// Returns how questions of a model that sees images are asked; an empty function for other models.
inference::ShowImages show_images(const config::ModelConfig& model,
                                  const tokenizers::Tokenizer& tokenizer) {
  if (!model.vlm) {
    return {};
  }
  const ImagePrompts prompts(*model.vlm, tokenizer);
  return [prompts](const inference::TaskQuestion& question, inference::GenerationRequest& request) {
    prompts.ask(question.contexts.front(), prompts.read(question.images), request);
  };
}

/// Throws Error(usage) where a task's answers are not generated, and so read no cache.
void refuse_cache_types(const TaskRequest& request) {
  request.types.refuse(
      fmt::format("--task {} scores texts by whole passes, without a cache", request.task));
}

/// A task's file with the questions that it makes of the data, each with its examples in front.
struct AskedTask {
  inference::EvaluationTask task;
  std::vector<inference::TaskQuestion> questions;

  explicit AskedTask(const TaskRequest& request)
      : task(inference::EvaluationTask::read(request.task)) {
    const Index wanted = request.num_fewshot.value_or(static_cast<Index>(task.examples));
    questions = inference::make_questions(
        task, request.data, {.count = static_cast<std::size_t>(wanted), .path = request.examples});
  }
  TaskFigures figures(inference::GeneratedAnswers answers) const {
    return figures_of(task, inference::compare_answers(task, questions, std::move(answers)));
  }
};

TaskFigures run_file(const TaskRequest& request, device::Device& device, train::Session& session) {
  const AskedTask asked(request);
  const tokenizers::Tokenizer& tokenizer = session.tokenizer();
  if (asked.task.generates) {
    return asked.figures(
        answers_of_run(device, session, asked.task, asked.questions, request.types));
  }
  refuse_cache_types(request);
  return figures_of(asked.task.name, inference::choice_accuracy(
                                         make_layout_scorer(device, session), tokenizer,
                                         asked.questions, session.config().training.seq_length));
}

}  // namespace

void check_task(const std::string& task) {
  constexpr const char* kTasks[] = {"WIKITEXT103", "PTB", "LAMBADA"};
  if (std::ranges::find(kTasks, task) == std::end(kTasks) && !names_task_file(task)) {
    throw_usage("--task {}: allowed: WIKITEXT103, PTB, LAMBADA, or a file of a task (.yaml)",
                task.empty() ? "is missing" : task);
  }
}

TaskRequest task_request(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == text.npos || at == 0 || at + 1 == text.size()) {
    throw_usage("--eval-tasks {}: TASK=FILE is needed (LAMBADA=lambada.jsonl)", text);
  }
  check_task(text.substr(0, at));
  return {.task = text.substr(0, at), .data = text.substr(at + 1)};
}

TaskFigures run_task(const TaskRequest& request, device::Device& device, train::Session& session) {
  if (names_task_file(request.task)) {
    return run_file(request, device, session);
  }
  refuse_cache_types(request);
  const tokenizers::Tokenizer& tokenizer = session.tokenizer();
  const inference::WindowScorer scorer = make_layout_scorer(device, session);
  const Index length = session.config().training.seq_length;
  if (request.task != "LAMBADA") {
    return figures_of(request.task, inference::perplexity(scorer, tokenizer, request.data, length,
                                                          std::min(request.stride, length)));
  }
  const auto result =
      inference::completion_accuracy(scorer, tokenizer, request.data, length, request.strict);
  if (result.cut > 0) {
    log::warning("{} of {} examples are longer than --seq-length {}: their beginning was cut",
                 result.cut, result.correct.size(), length);
  }
  return figures_of(request.task, result);
}

TaskFigures run_task(const TaskRequest& request, inference::Engine& engine,
                     const config::ModelConfig& model, const tokenizers::Tokenizer& tokenizer) {
  if (names_task_file(request.task)) {
    if (const AskedTask asked(request); asked.task.generates) {
      return asked.figures(inference::generate_answers(
          engine, tokenizer, asked.task, asked.questions, show_images(model, tokenizer)));
    }
  }
  throw_usage(
      "--task {}: a model that sees images generates its answers (output_type: "
      "generate_until)",
      request.task);
}

}  // namespace mpitron::cli
