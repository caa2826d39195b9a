#include <algorithm>

#include "cli/commands.h"
#include "cli/run/launch.h"
#include "cli/run/pretrain.h"
#include "config/parse/parse.h"
#include "train/batches/training_data.h"
#include "utils/log.h"

// `mpitron finetune`: a training run on labelled texts, as Megatron's tasks/main.py. Only its
// length is different: --epochs counts passes over the data, and this file turns them into
// --train-iters.

namespace mpitron::cli {
namespace {

constexpr const char* kFinetuneHelp =
    "usage: mpitron finetune --task TASK --train-data FILE... --valid-data FILE... OPTIONS\n\n"
    "Teaches a BERT (or, with --model gpt, a GPT) a task of labelled texts, as Megatron-LM's\n"
    "tasks/main.py does, from --pretrained-checkpoint.\n\n"
    "  --task TASK             MNLI, QQP, RACE, CoLA, SST-2, MRPC, STS-B, QNLI, RTE, WNLI\n"
    "  --train-data FILE...    what is learned; of RACE folders\n"
    "  --valid-data FILE...    what is evaluated after every epoch, each on its own\n"
    "  --epochs N              how often the data are learned (1); 0 evaluates only\n"
    "  --keep-last             an epoch's last batch counts although it is not whole\n"
    "  --predictions-path FILE what the model says of each sample of --valid-data, as JSONL\n\n"
    "`mpitron options` lists the options of model and training.\n";

bool gives(const Arguments& words, const std::string& flag) {
  return std::ranges::any_of(
      words, [&](const std::string& word) { return word == flag || word.starts_with(flag + "="); });
}

/// Adds the number of iterations that the epochs need. Options that are wrong are left to the run
/// itself, which tells everything that is wrong with them at once.
Arguments with_length(Arguments words, const std::string& kind) {
  for (const char* flag : {"--train-iters", "--train-samples"}) {
    if (gives(words, flag)) {
      throw_usage("{}: the length of `mpitron finetune` is given by --epochs", flag);
    }
  }
  Arguments parsed_words = {"--model", kind};
  parsed_words.insert(parsed_words.end(), words.begin(), words.end());
  const config::ParsedRun parsed = config::parse_run(parsed_words, presumed_ranks());
  const auto& task = parsed.run.data.text_task;
  const Index together =
      parsed.run.training.micro_batch_size * parsed.run.parallel.data_parallel_size;
  if (!parsed.findings.empty() || !task || together < 1 ||
      parsed.run.training.global_batch_size < together) {
    return words;
  }
  const Index iterations = train::task_iterations(parsed.run);
  words.insert(words.end(), {"--train-iters", fmt::format("{}", iterations)});
  if (task->epochs == 0) {
    words.emplace_back("--skip-train");
  }
  return words;
}

}  // namespace

int finetune(const Arguments& arguments) {
  if (gives(arguments, "--help") || gives(arguments, "-h")) {
    log::print(kFinetuneHelp);
    return static_cast<int>(ExitCode::success);
  }
  Arguments words = arguments;
  const std::string kind = take_value(words, "--model").value_or("bert");
  if (!gives(words, "--task")) {
    throw_usage("--task is missing: MNLI, QQP, RACE, CoLA, SST-2, MRPC, STS-B, QNLI, RTE or WNLI");
  }
  return run_model(kind, with_length(std::move(words), kind),
                   [](device::Device&, train::Session&) {});
}

}  // namespace mpitron::cli
