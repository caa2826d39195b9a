#include <algorithm>

#include "cli/evaluation/task_runs.h"
#include "io/logs/json_text.h"

// Results of evaluation tasks as a line, as JSON and as named figures for a training log. The lines
// are those of Megatron's tasks/zeroshot_gpt; names in the JSON are those of lm-evaluation-harness
// where it has the measure.

namespace mpitron::cli {
namespace {

Index count(const std::vector<bool>& correct) {
  return std::ranges::count(correct, true);
}

std::string list_of(const std::vector<bool>& values) {
  std::string text;
  for (const bool value : values) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", value ? 1 : 0);
  }
  return "[" + text + "]";
}

}  // namespace

TaskFigures figures_of(const std::string& task, const inference::PerplexityResult& r) {
  return {.line = r.line(task),
          .json = fmt::format(
              "{{\"task\": {}, \"avg_loss\": {}, \"ppl\": {}, \"adjusted_ppl\": {}, "
              "\"token_ratio\": {}, \"loss_sum\": {}, \"targets\": {}, \"windows\": {}, "
              "\"words\": {}}}",
              io::json_string(task), r.average(), r.perplexity(), r.adjusted_perplexity(),
              r.token_ratio(), r.loss, r.targets, r.windows, r.words),
          .figures = {{task + " ppl", r.perplexity()},
                      {task + " adjusted ppl", r.adjusted_perplexity()}}};
}

TaskFigures figures_of(const std::string& task, const inference::CompletionResult& r) {
  return {.line = r.line(task),
          .json = fmt::format(
              "{{\"task\": {}, \"number_correct\": {}, \"total_examples\": {}, \"accuracy\": {}, "
              "\"cut_examples\": {}, \"per_example\": {}}}",
              io::json_string(task), r.number_correct(), r.correct.size(),
              inference::share(r.correct), r.cut, list_of(r.correct)),
          .figures = {{task + " accuracy", inference::share(r.correct)}}};
}

/// Reports accuracy by the sum of log-probabilities (acc) and by that sum over the answer's length
/// (acc_norm).
TaskFigures figures_of(const std::string& task, const inference::ChoiceResult& r) {
  const double acc = inference::share(r.correct), norm = inference::share(r.correct_by_length);
  const double acc_error = inference::standard_error(r.correct);
  const double norm_error = inference::standard_error(r.correct_by_length);
  return {.line = fmt::format(
              " validation results on {} | accuracy: {:.4f} +- {:.4f} | by length: {:.4f} +- "
              "{:.4f} | total examples: {} |",
              task, acc, acc_error, norm, norm_error, r.correct.size()),
          .json = fmt::format(
              "{{\"task\": {}, \"acc\": {}, \"acc_stderr\": {}, \"acc_norm\": {}, "
              "\"acc_norm_stderr\": {}, \"number_correct\": {}, \"number_correct_norm\": {}, "
              "\"total_examples\": {}, \"cut_choices\": {}, \"per_example\": {}}}",
              io::json_string(task), acc, acc_error, norm, norm_error, count(r.correct),
              count(r.correct_by_length), r.correct.size(), r.cut, list_of(r.correct)),
          .figures = {{task + " acc", acc}, {task + " acc_norm", norm}}};
}

/// Reports exact match once for each filter of the task's file, and overlap measures where the task
/// asks for them.
TaskFigures figures_of(const inference::EvaluationTask& task,
                       const inference::GenerationResult& r) {
  TaskFigures result{.line = fmt::format(" validation results on {} |", task.name)};
  std::string filters, answers;
  for (std::size_t i = 0; i < task.filters.size(); ++i) {
    const std::string& name = task.filters[i].name;
    const double same = inference::share(r.correct[i]);
    const double error = inference::standard_error(r.correct[i]);
    result.line += fmt::format(" exact match ({}): {:.4f} +- {:.4f} |", name, same, error);
    filters += fmt::format(
        "{}{}: {{\"exact_match\": {}, \"exact_match_stderr\": {}, \"number_correct\": {}}}",
        filters.empty() ? "" : ", ", io::json_string(name), same, error, count(r.correct[i]));
    result.figures.emplace_back(task.name + " exact_match " + name, same);
  }
  std::string overlap;
  for (const auto& [name, value] :
       {std::pair{"f1", r.f1}, std::pair{"bleu", r.bleu}, std::pair{"vqa_accuracy", r.vqa},
        std::pair{"relaxed_accuracy", r.relaxed}, std::pair{"cider", r.cider}}) {
    if (value) {
      result.line += fmt::format(" {}: {:.4f} |", name, *value);
      overlap += fmt::format("\"{}\": {}, ", name, *value);
      result.figures.emplace_back(task.name + " " + name, *value);
    }
  }
  for (const std::string& answer : r.answers) {
    answers += (answers.empty() ? "" : ", ") + io::json_string(answer);
  }
  result.line += fmt::format(" total examples: {} |", r.answers.size());
  result.json = fmt::format(
      "{{\"task\": {}, \"filters\": {{{}}}, {}\"total_examples\": {}, \"cut_examples\": {}, "
      "\"answers\": [{}]}}",
      io::json_string(task.name), filters, overlap, r.answers.size(), r.cut, answers);
  return result;
}

}  // namespace mpitron::cli
