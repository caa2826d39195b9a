#include <algorithm>
#include <charconv>

#include "cli/commands.h"
#include "cli/run/pretrain.h"
#include "inference/multiple_choice.h"
#include "inference/zero_shot.h"
#include "utils/log.h"
#include "utils/system/files.h"

namespace mpitron::cli {
namespace {

constexpr const char* kEvaluateHelp =
    "usage: mpitron evaluate --task WIKITEXT103|LAMBADA|FILE.yaml --valid-data FILE --load DIR "
    "OPTIONS\n\n"
    "Evaluates a GPT as Megatron-LM's zero-shot tasks do. --use-checkpoint-args takes the model's\n"
    "options from the checkpoint; the tokenizer's files are given as in training.\n\n"
    "  --task TASK           WIKITEXT103: perplexity per token and per word; LAMBADA: accuracy\n"
    "                        of the last word; FILE.yaml: multiple choice (jobs/tasks)\n"
    "  --valid-data FILE     a text whose path names its corpus (wiki, ptb, lambada), or JSONL\n"
    "                        with the field text (LAMBADA)\n"
    "  --overlapping-eval N  tokens from one window to the next (32; --seq-length N: disjoint)\n"
    "  --strict-lambada      the last word by white space instead of the last token\n"
    "  --output-path FILE    figures as JSON\n\n"
    "`mpitron options` lists the options of the model.\n";

/// What the command itself is asked for.
struct EvaluateOptions {
  std::string task, data, output;
  Index stride = 32;
  bool strict = false;
};

bool is_choice(const EvaluateOptions& options) {
  return options.task.ends_with(".yaml") || options.task.ends_with(".yml");
}

Index positive(const std::string& flag, const std::string& text) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) {
    throw_usage("{} {}: a whole number from 1 is needed", flag, text);
  }
  return value;
}

EvaluateOptions take_options(Arguments& words) {
  EvaluateOptions options{.task = take_value(words, "--task").value_or(""),
                          .data = take_value(words, "--valid-data").value_or(""),
                          .output = take_value(words, "--output-path").value_or(""),
                          .strict = take_flag(words, "--strict-lambada")};
  if (options.task != "WIKITEXT103" && options.task != "LAMBADA" && !is_choice(options)) {
    throw_usage("--task {}: allowed: WIKITEXT103, LAMBADA, or a file of a task (.yaml)",
                options.task.empty() ? "is missing" : options.task);
  }
  if (options.data.empty()) {
    throw_usage("--valid-data is missing: the file to evaluate on");
  }
  if (const auto stride = take_value(words, "--overlapping-eval")) {
    options.stride = positive("--overlapping-eval", *stride);
  }
  return options;
}

bool names(const Arguments& words, const std::string& flag) {
  return std::ranges::any_of(
      words, [&](const std::string& word) { return word == flag || word.starts_with(flag + "="); });
}

/// The options of a run that loads the model and trains nothing.
Arguments run_words(Arguments words) {
  if (!names(words, "--load")) {
    throw_usage("--load is missing: the checkpoint to evaluate");
  }
  for (const char* more : {"--skip-train", "--train-iters", "1", "--mock-data", "--eval-iters", "0",
                           "--no-load-optim", "--no-load-rng", "--exit-on-missing-checkpoint"}) {
    words.emplace_back(more);
  }
  if (!names(words, "--micro-batch-size")) {
    words.insert(words.end(), {"--micro-batch-size", "4"});
  }
  return words;
}

void refuse_layout(const config::RunConfig& config) {
  if (config.parallel.pipeline_model_parallel_size > 1) {
    throw_usage(
        "--pipeline-model-parallel-size {}: evaluate reads logits on every rank; load the "
        "checkpoint with 1 (any layout can be loaded)",
        config.parallel.pipeline_model_parallel_size);
  }
  if (config.parallel.context_parallel_size > 1) {
    throw_usage("--context-parallel-size {}: evaluate needs whole sequences; use 1",
                config.parallel.context_parallel_size);
  }
}

std::string perplexity_json(const std::string& task, const inference::PerplexityResult& r) {
  return fmt::format(
      "{{\"task\": \"{}\", \"avg_loss\": {}, \"ppl\": {}, \"adjusted_ppl\": {}, "
      "\"token_ratio\": {}, \"loss_sum\": {}, \"targets\": {}, \"windows\": {}, \"words\": "
      "{}}}\n",
      task, r.average(), r.perplexity(), r.adjusted_perplexity(), r.token_ratio(), r.loss,
      r.targets, r.windows, r.words);
}

std::string completion_json(const std::string& task, const inference::CompletionResult& r) {
  std::string each;
  for (const bool correct : r.correct) {
    each += fmt::format("{}{}", each.empty() ? "" : ", ", correct ? 1 : 0);
  }
  return fmt::format(
      "{{\"task\": \"{}\", \"number_correct\": {}, \"total_examples\": {}, \"accuracy\": {}, "
      "\"cut_examples\": {}, \"per_example\": [{}]}}\n",
      task, r.number_correct(), r.correct.size(),
      static_cast<double>(r.number_correct()) / static_cast<double>(r.correct.size()), r.cut, each);
}

std::string choice_json(const std::string& task, const inference::ChoiceResult& r) {
  return fmt::format(
      "{{\"task\": \"{}\", \"acc\": {}, \"acc_stderr\": {}, \"acc_norm\": {}, "
      "\"acc_norm_stderr\": {}, \"number_correct\": {}, \"number_correct_norm\": {}, "
      "\"total_examples\": {}, \"cut_choices\": {}}}\n",
      task, r.accuracy(r.correct), r.standard_error(r.correct), r.accuracy(r.correct_by_length),
      r.standard_error(r.correct_by_length), std::ranges::count(r.correct, true),
      std::ranges::count(r.correct_by_length, true), r.correct.size(), r.cut);
}

void print_result(const std::string& line) {
  const std::string dashes(line.size() + 1, '-');
  log::print(fmt::format("{}\n{}\n{}", dashes, line, dashes));
}

void evaluate_task(const EvaluateOptions& options, device::Device& device,
                   train::Session& session) {
  refuse_layout(session.config());
  const tokenizers::Tokenizer& tokenizer = session.tokenizer();
  const Index length = session.config().model.seq_length;
  const inference::WindowScorer scorer(device, session.model().chunk(0), tokenizer.eod(),
                                       session.config().training.micro_batch_size);
  std::string json;
  if (is_choice(options)) {
    const auto task = inference::ChoiceTask::read(options.task);
    const auto result = inference::choice_accuracy(scorer, tokenizer, task, options.data, length);
    print_result(result.line(task.name));
    json = choice_json(task.name, result);
  } else if (options.task == "LAMBADA") {
    const auto result =
        inference::completion_accuracy(scorer, tokenizer, options.data, length, options.strict);
    if (result.cut > 0) {
      log::warning("{} of {} examples are longer than --seq-length {}: their beginning was cut",
                   result.cut, result.correct.size(), length);
    }
    print_result(result.line(options.task));
    json = completion_json(options.task, result);
  } else {
    const auto result = inference::perplexity(scorer, tokenizer, options.data, length,
                                              std::min(options.stride, length));
    print_result(result.line(options.task));
    json = perplexity_json(options.task, result);
  }
  if (!options.output.empty() && session.model().world().rank() == 0) {
    AtomicFile file(options.output);
    file.write(json.data(), json.size());
    file.commit();
  }
}

}  // namespace

int evaluate(const Arguments& arguments) {
  if (names(arguments, "--help") || names(arguments, "-h")) {
    log::print(kEvaluateHelp);
    return static_cast<int>(ExitCode::success);
  }
  Arguments words = arguments;
  const EvaluateOptions options = take_options(words);
  return run_model("gpt", run_words(std::move(words)),
                   [&](device::Device& device, train::Session& session) {
                     evaluate_task(options, device, session);
                   });
}

}  // namespace mpitron::cli
