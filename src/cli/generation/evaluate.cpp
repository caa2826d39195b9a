#include <algorithm>
#include <filesystem>

#include "checkpoint/folders/folder.h"
#include "cli/commands.h"
#include "cli/evaluation/task_runs.h"
#include "cli/generation/loaded_model.h"
#include "cli/run/launch.h"
#include "cli/run/pretrain.h"
#include "config/parse/stored_model.h"
#include "config/values/option_values.h"
#include "convert/names/hugging_face_config.h"
#include "utils/log.h"
#include "utils/system/files.h"

// `mpitron evaluate`: tasks of Megatron's tasks/main.py (WIKITEXT103, LAMBADA) and tasks from YAML
// files, on any checkpoint in any layout. The model is loaded as a training run that trains
// nothing; models that see images are loaded as `mpitron generate` loads them.

namespace mpitron::cli {
namespace {

constexpr const char* kEvaluateHelp =
    "usage: mpitron evaluate --task TASK... --valid-data FILE... --load MODEL OPTIONS\n\n"
    "Measures a decoder by tasks, in any layout. MODEL is a folder of checkpoints or a Hugging "
    "Face\n"
    "folder; its options are taken from there, the tokenizer's files are given as in training.\n\n"
    "  --task TASK...        WIKITEXT103, PTB: perplexity per token and per word; LAMBADA:\n"
    "                        accuracy of the last word; FILE.yaml: a task with choices or\n"
    "                        generated answers (jobs/tasks)\n"
    "  --valid-data FILE...  one for each task: a text whose path names its corpus (wiki, ptb,\n"
    "                        lambada), or JSONL\n"
    "  --fewshot-data FILE...  where examples in front of questions come from; one for each task\n"
    "                        or one for all. Without: the other questions\n"
    "  --num-fewshot N       examples; as the task says unless given\n"
    "  --overlapping-eval N  tokens from one window to the next (32; --seq-length N: disjoint)\n"
    "  --strict-lambada      the last word by white space instead of the last token\n"
    "  --kv-cache-dtype T    what generated answers keep keys and values in: auto (the model's\n"
    "                        type), bf16 or fp8_e4m3\n"
    "  --mamba-inference-conv-states-dtype T, --mamba-inference-ssm-states-dtype T\n"
    "                        what they keep states of Mamba and delta-net layers in: auto (the\n"
    "                        model's type of convolutions, else fp32), bf16, fp16 or fp32\n"
    "  --output-path FILE    figures as JSON\n\n"
    "`mpitron options` lists the options of the model and of the layout.\n";

Index whole_number(const std::string& flag, const std::string& text, Index least) {
  const std::optional<Index> value = config::read_integer(text);
  if (value.value_or(least - 1) < least) {
    throw_usage("{} {}: a whole number from {} is needed", flag, text, least);
  }
  return *value;
}

bool names(const Arguments& words, const std::string& flag) {
  return std::ranges::any_of(
      words, [&](const std::string& word) { return word == flag || word.starts_with(flag + "="); });
}

/// Options of the command itself, beside those of the model.
struct EvaluateOptions {
  std::vector<TaskRequest> tasks;
  std::string output;
};

/// Returns the k-th element of a list as long as that of the tasks, or the only one for all tasks.
/// Error(usage) for any other length.
const std::string& of_task(const std::vector<std::string>& list, std::size_t k, std::size_t tasks,
                           const char* flag) {
  static const std::string kNone;
  if (list.size() != tasks && list.size() > 1) {
    throw_usage("{}: {} are given for {} tasks", flag, list.size(), tasks);
  }
  return list.empty() ? kNone : list[list.size() == 1 ? 0 : k];
}

/// Takes the command's own options out of `words`; those of the run stay.
EvaluateOptions take_options(Arguments& words) {
  EvaluateOptions options{.output = take_value(words, "--output-path").value_or("")};
  const std::vector<std::string> tasks = take_values(words, "--task");
  const std::vector<std::string> data = take_values(words, "--valid-data");
  const std::vector<std::string> examples = take_values(words, "--fewshot-data");
  const auto shots = take_value(words, "--num-fewshot");
  const auto stride = take_value(words, "--overlapping-eval");
  const bool strict = take_flag(words, "--strict-lambada");
  const CacheTypes types = CacheTypes::take(words);
  for (std::size_t k = 0; k < std::max<std::size_t>(tasks.size(), 1); ++k) {
    TaskRequest task{.task = tasks.empty() ? "" : tasks[k], .strict = strict, .types = types};
    check_task(task.task);
    task.data = of_task(data, k, tasks.size(), "--valid-data");
    task.examples = of_task(examples, k, tasks.size(), "--fewshot-data");
    if (task.data.empty()) {
      throw_usage("--valid-data is missing: the file to evaluate on");
    }
    if (shots) {
      task.num_fewshot = whole_number("--num-fewshot", *shots, 0);
    }
    if (stride) {
      task.stride = whole_number("--overlapping-eval", *stride, 1);
    }
    options.tasks.push_back(std::move(task));
  }
  return options;
}

/// Adds the options that make a training run load the model and train nothing.
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
  if (!names(words, "--num-layers")) {
    words.emplace_back("--use-checkpoint-args");
  }
  if (names(words, "--tokenizer-type")) {
    words.emplace_back("--no-use-tokenizer-model-from-checkpoint-args");
  }
  return words;
}

/// Returns the model family: that of --model, else that of config.json or of the checkpoint of
/// --load.
std::string kind_of(Arguments words) {
  if (const auto given = take_value(words, "--model")) {
    return *given;
  }
  const std::filesystem::path path = take_value(words, "--load").value_or("");
  if (const auto config = path / "config.json"; std::filesystem::exists(config)) {
    return convert::read_hugging_face_config(read_file(config), config, 1).model.family().name;
  }
  const checkpoint::Folder folder(path);
  if (!folder.tracked()) {
    return "gpt";  // whose run tells what is missing
  }
  const checkpoint::File file = checkpoint::open_newest(folder);
  return config::read_stored_model(file.header().configuration, path).model.family().name;
}

void print_result(const std::string& line) {
  const std::string dashes(line.size() + 1, '-');
  log::print(fmt::format("{}\n{}\n{}", dashes, line, dashes));
}

/// Runs all tasks in order; `run` turns a request into its figures. `writes` is true on the one
/// rank that writes --output-path.
template <class Run>
void evaluate_tasks(const EvaluateOptions& options, bool writes, Run&& run) {
  std::string json;
  for (const TaskRequest& request : options.tasks) {
    const TaskFigures figures = run(request);
    print_result(figures.line);
    json += (json.empty() ? "" : ",\n ") + figures.json;
  }
  if (!options.output.empty() && writes) {
    AtomicFile file(options.output);
    file.write("{\"results\": [" + json + "]}\n");
    file.commit();
  }
}

/// Measures a model that sees images; its answers are generated with the options of `mpitron
/// generate`.
void evaluate_images(const EvaluateOptions& options, const Arguments& words) {
  ModelOptions loaded;
  Flags flags("evaluate", "Measures a model that sees images by tasks.");
  loaded.declare(flags);
  if (!flags.parse(words)) {
    return;
  }
  loaded.types = options.tasks.front().types;
  const std::shared_ptr<comm::World> world = launch_world(loaded.layout.timeout_minutes);
  const device::HostRuntime runtime;
  LoadedModel model(loaded, world);
  if (!model.leads()) {
    return model.follow();
  }
  evaluate_tasks(options, true, [&](const TaskRequest& request) {
    return run_task(request, *model.engine, model.config(), *model.tokenizer);
  });
}

}  // namespace

int evaluate(const Arguments& arguments) {
  if (names(arguments, "--help") || names(arguments, "-h")) {
    log::print(kEvaluateHelp);
    return static_cast<int>(ExitCode::success);
  }
  Arguments words = arguments;
  const EvaluateOptions options = take_options(words);
  const std::string kind = kind_of(words);
  if (kind == "vlm") {
    evaluate_images(options, words);
    return static_cast<int>(ExitCode::success);
  }
  return run_model(
      kind, run_words(std::move(words)), [&](device::Device& device, train::Session& session) {
        evaluate_tasks(
            options, session.model().world().rank() == 0,
            [&](const TaskRequest& request) { return run_task(request, device, session); });
      });
}

}  // namespace mpitron::cli
