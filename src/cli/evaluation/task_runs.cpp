#include "cli/evaluation/task_runs.h"

#include <algorithm>

#include "cli/image_prompts.h"
#include "inference/engine_choice.h"
#include "utils/log.h"

// From the name of a task to its figures: perplexity (WIKITEXT103, PTB) and LAMBADA score windows
// of a text, a task's YAML file asks questions whose answers are scored or generated.

namespace mpitron::cli {
namespace {

bool names_task_file(const std::string& task) {
  return task.ends_with(".yaml") || task.ends_with(".yml");
}

/// Makes an engine with a cache where one rank holds the whole model and its layers have such a
/// path; any other run generates by whole forward passes.
std::unique_ptr<inference::Engine> make_task_engine(device::Device& device,
                                                    train::Session& session) {
  const config::ModelConfig& model = session.config().model;
  if (session.model().world().size() > 1 || !device.tensors_on_host() ||
      !inference::no_cached_path(model).empty()) {
    return make_layout_engine(session);
  }
  constexpr Index kBlock = 16, kTexts = 16;
  const Index blocks = (model.max_position_embeddings + kBlock - 1) / kBlock * kTexts;
  return inference::make_engine(device, session.model().chunk(0),
                                {.block_size = kBlock, .blocks = blocks, .slots = kTexts},
                                session.tokenizer().vocab_size());
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
  TaskFigures generate(inference::Engine& engine, const config::ModelConfig& model,
                       const tokenizers::Tokenizer& tokenizer) const {
    return figures_of(task, inference::generated_accuracy(engine, tokenizer, task, questions,
                                                          show_images(model, tokenizer)));
  }
};

TaskFigures run_file(const TaskRequest& request, device::Device& device, train::Session& session) {
  const AskedTask asked(request);
  const tokenizers::Tokenizer& tokenizer = session.tokenizer();
  if (asked.task.generates) {
    const auto engine = make_task_engine(device, session);
    return asked.generate(*engine, session.config().model, tokenizer);
  }
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
      return asked.generate(engine, model, tokenizer);
    }
  }
  throw_usage(
      "--task {}: a model that sees images generates its answers (output_type: "
      "generate_until)",
      request.task);
}

}  // namespace mpitron::cli
