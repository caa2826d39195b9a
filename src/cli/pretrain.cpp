#include "cli/pretrain.h"

#include <algorithm>
#include <cmath>

#include "checkpoint/choose.h"
#include "cli/fingerprint.h"
#include "cli/launch.h"
#include "cli/memory_estimate.h"
#include "cli/run_device.h"
#include "config/constraint.h"
#include "config/option_help.h"
#include "config/parse.h"
#include "config/report.h"
#include "inference/text_generator.h"
#include "train/checkpointing/tokenizer_files.h"
#include "train/loop/pretrain.h"
#include "train/loop/unigram.h"
#include "train/tuning/kernel_tuning.h"
#include "utils/log.h"
#include "utils/machine_memory.h"
#include "utils/utf8.h"

namespace mpitron::cli {
namespace {

constexpr const char* kSmallestRun =
    "The smallest run, without data:\n\n"
    "  mpitron pretrain-gpt --num-layers 2 --hidden-size 64 --num-attention-heads 4 \\\n"
    "    --seq-length 64 --max-position-embeddings 64 --micro-batch-size 4 \\\n"
    "    --train-iters 100 --lr 1e-3 --tokenizer-type NullTokenizer --vocab-size 255 "
    "--mock-data\n\n"
    "`mpitron check OPTIONS` says what is wrong with options before anything is started.\n";

/// In front of the help on all options, not of that on one group.
std::string introduction(const std::string& kind, const Arguments& words) {
  const auto asks = [](const std::string& word) { return word == "--help" || word == "-h"; };
  return std::ranges::none_of(words, asks) ? ""
                                           : fmt::format("usage: mpitron pretrain-{} OPTIONS\n\n{}",
                                                         kind, kind == "gpt" ? kSmallestRun : "");
}

/// Python's numbers, as `--logging-level` takes them.
log::Level level_of(Index number) {
  return number >= 40   ? log::Level::error
         : number >= 30 ? log::Level::warning
         : number >= 20 ? log::Level::info
                        : log::Level::debug;
}

/// Where --use-checkpoint-args takes options from: what is loaded, else what the run starts from.
/// None without it.
std::optional<config::CheckpointArguments> checkpoint_arguments(const config::ParsedRun& parsed) {
  const config::CheckpointConfig& c = parsed.run.checkpoint;
  const std::optional<std::string>& root = c.load ? c.load : c.pretrained_checkpoint;
  if (!root || !(c.use_checkpoint_args || c.use_mp_args_from_checkpoint_args)) {
    return std::nullopt;
  }
  const checkpoint::File file = checkpoint::open_newest(checkpoint::Folder(*root), c.ckpt_step);
  return config::CheckpointArguments{
      .configuration = file.header().configuration,
      .path = file.path().string(),
      .layout = c.use_mp_args_from_checkpoint_args,
      .tokenizer = parsed.values.flag("use_tokenizer_model_from_checkpoint_args")};
}

/// Reads the flags, prints the reference's block of arguments, or throws with everything that is
/// wrong at once.
config::ParsedRun read_flags(const Arguments& arguments, Index world_size) {
  config::ParsedRun parsed = config::parse_run(arguments, world_size);
  if (const auto checkpoint = checkpoint_arguments(parsed)) {
    parsed = config::parse_run(arguments, world_size, &*checkpoint);
  }
  parsed = config::checked(std::move(parsed));
  const config::DataConfig& data = parsed.run.data;
  if (data.data_path.empty() && data.train_data_path.empty() && !data.mock_data) {
    throw_usage(
        "there is nothing to train on: give --data-path PREFIX (of .bin and .idx), "
        "--train-data-path or "
        "--mock-data");
  }
  const config::ParallelConfig& parallel = parsed.run.parallel;
  if (parsed.run.logging.sample_prompt && parallel.tensor_model_parallel_size *
                                                  parallel.pipeline_model_parallel_size *
                                                  parallel.context_parallel_size >
                                              1) {
    throw_usage(
        "--sample-prompt writes with a model that lies whole on one rank so far: leave it out, or "
        "share only the batch (tensor, pipeline and context parallel sizes of 1)");
  }
  if (const auto level = parsed.run.logging.logging_level) {
    log::set_level(level_of(*level));
  }
  log::print(config::arguments_block(parsed.values));
  return parsed;
}

/// Those that --device auto has left open.
void check_rules_of_gpus(config::ParsedRun& parsed) {
  parsed.run.training.device = "cuda";
  parsed.findings = config::check_constraints({.values = parsed.values, .run = parsed.run});
  if (!parsed.findings.empty()) {
    throw Error(ExitCode::usage, config::to_text(parsed.findings));
  }
}

/// That of the checkpoint where it fits tokenizer and layout, so that the loss goes on as it was.
Index padded_vocabulary(const config::RunConfig& config, Index vocab_size,
                        std::optional<Index> rows) {
  const bool fits =
      rows && *rows >= vocab_size && *rows % config.parallel.tensor_model_parallel_size == 0;
  return fits && !config.data.padded_vocab_size ? *rows
                                                : train::padded_vocab_size(config, vocab_size);
}

/// Before memory is taken, which may last long before it fails.
void warn_of_little_memory(const config::RunConfig& config, comm::World& world) {
  Index ranks_here = 0;
  for (Index rank = 0; rank < world.size(); ++rank) {
    ranks_here += world.host(rank) == world.host(world.rank()) ? 1 : 0;
  }
  const std::string shortage =
      memory_shortage(estimate_memory(config), ranks_here, machine_memory());
  if (!shortage.empty()) {
    log::warning("{}", shortage);
  }
}

void print_data(const train::TrainingData& data, const config::RunConfig& config) {
  const auto size = [](const std::shared_ptr<const data::Dataset>& set) {
    return set ? set->size() : 0;
  };
  std::string valid;
  for (const auto& set : data.sets.valid) {
    valid += fmt::format("{}{}", valid.empty() ? "" : " + ", size(set));
  }
  const Index vocab_size = data.tokenizer->vocab_size(), padded = config.model.padded_vocab_size;
  log::print(fmt::format(" > padded vocab (size: {}) with {} dummy tokens (new size: {})",
                         vocab_size, padded - vocab_size, padded));
  log::print(fmt::format(" > samples: train {}, validation {}, test {}", size(data.sets.train),
                         valid.empty() ? "0" : valid, size(data.sets.test)));
}

void print_unigram_baseline(const train::TrainingData& data, const config::RunConfig& config) {
  if (const auto loss = train::unigram_loss(data, config)) {
    log::print(
        fmt::format(" best unigram model of the validation tokens | lm loss value: {:.6E} | lm "
                    "loss PPL: {:.6E} |",
                    *loss, std::exp(*loss)));
  }
}

void print_sample(const inference::TextGenerator& generator, const config::RunConfig& config) {
  const std::string text = generator.generate(
      *config.logging.sample_prompt, {.tokens = config.logging.sample_tokens,
                                      .temperature = config.logging.sample_temperature,
                                      .seed = static_cast<std::uint64_t>(config.training.seed)});
  log::print(fmt::format("a sample of what the model writes:\n\n{}\n", replace_invalid_utf8(text)));
}

}  // namespace

int pretrain(const std::string& kind, const Arguments& words) {
  Arguments arguments = {"--model", kind};
  arguments.insert(arguments.end(), words.begin(), words.end());
  if (const auto help = config::requested_help(arguments)) {
    log::print(introduction(kind, words) + *help);
    return static_cast<int>(ExitCode::success);
  }
  const auto trace = std::make_shared<Trace>();
  const std::shared_ptr<comm::World> ranks = launch_world(arguments, trace);
  config::ParsedRun parsed = read_flags(arguments, ranks->size());
  if (parsed.values.text("model") != kind) {
    throw_usage("--model {}: the command is pretrain-{}; call pretrain-{}",
                parsed.values.text("model"), kind, parsed.values.text("model"));
  }
  const device::HostRuntime runtime;
  const auto device = make_run_device(parsed.run.training.device, *ranks, parsed.run.parallel);
  if (!device->tensors_on_host()) {
    check_rules_of_gpus(parsed);
  }
  config::RunConfig config = parsed.run;
  if (config.optimizer.offload && device->tensors_on_host()) {
    log::print(" > --optimizer-cpu-offload: the processor computes everything in this run");
  }
  if (device->tensors_on_host()) {
    warn_of_little_memory(config, *ranks);
  }
  const auto world = comm::world_for_device(ranks, *device, device_transport(config.parallel));
  train::KernelTuning tuning(*device, *world, config);
  const train::TrainingData data = train::make_training_data(config);
  const auto sources = train::checkpoint_sources(*world, config.checkpoint);
  config.model.padded_vocab_size = padded_vocabulary(config, data.tokenizer->vocab_size(),
                                                     train::vocabulary_rows(*world, sources));
  print_data(data, config);
  train::TrainedModel model(*device, config, *world);
  log::print(train::parameter_count_line(model.groups().tensor->rank(), model.stage(),
                                         model.parameters().numel()));
  train::Pretraining pretraining(*device, model, data, config,
                                 {.configuration = config::values_json(parsed.values, false),
                                  .build = fingerprint(),
                                  .files = train::tokenizer_files(*data.tokenizer),
                                  .vocabulary = data.tokenizer->vocab_size(),
                                  .given = config::given_values_json(parsed.values),
                                  .arguments = config::display_values(parsed.values)},
                                 trace);
  const train::RunOutcome outcome = pretraining.run(&tuning);
  if (outcome.code == ExitCode::success && config.logging.unigram_baseline) {
    print_unigram_baseline(data, config);
  }
  if (outcome.code == ExitCode::success && config.logging.sample_prompt) {
    print_sample(inference::TextGenerator(*device, model.chunk(0), *data.tokenizer), config);
  }
  return static_cast<int>(outcome.code);
}

}  // namespace mpitron::cli
