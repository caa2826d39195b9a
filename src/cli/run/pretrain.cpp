#include "cli/run/pretrain.h"

#include <algorithm>
#include <filesystem>

#include "checkpoint/folders/folder.h"
#include "checkpoint/plan/agreement.h"
#include "cli/commands.h"
#include "cli/evaluation/task_runs.h"
#include "cli/program.h"
#include "cli/run/launch.h"
#include "cli/show/memory_estimate.h"
#include "config/parse/parse.h"
#include "config/parse/report.h"
#include "config/rules/constraint.h"
#include "config/values/option_help.h"
#include "inference/text_generator.h"
#include "train/run/exit_signals.h"
#include "train/session/file_rules.h"
#include "utils/log.h"
#include "utils/system/faults.h"
#include "utils/system/files.h"
#include "utils/system/machine.h"
#include "utils/text/utf8.h"

// The training commands: flags, checkpoint options and ranks, in the order that tells a mistake as
// early as possible, then train::Session. Options are parsed before MPI starts, so that a misspelt
// one needs no launch; rules that need ranks, a device or files follow.

namespace mpitron::cli {
namespace {

constexpr const char* kSmallestRun =
    "The smallest run, without data:\n\n"
    "  mpitron pretrain-gpt --num-layers 2 --hidden-size 64 --num-attention-heads 4 \\\n"
    "    --seq-length 64 --max-position-embeddings 64 --micro-batch-size 4 \\\n"
    "    --train-iters 100 --lr 1e-3 --tokenizer-type NullTokenizer --vocab-size 255 "
    "--mock-data\n\n"
    "`mpitron check OPTIONS` says what is wrong with options before anything is started.\n";

/// Returns the usage in front of the help on all options, nothing in front of that on one group.
std::string introduction(const std::string& kind, const Arguments& words) {
  const auto asks = [](const std::string& word) { return word == "--help" || word == "-h"; };
  return std::ranges::none_of(words, asks) ? ""
                                           : fmt::format("usage: mpitron pretrain-{} OPTIONS\n\n{}",
                                                         kind, kind == "gpt" ? kSmallestRun : "");
}

/// Converts a level of Python's logging, as `--logging-level` takes it.
log::Level level_of(Index number) {
  return number >= 40   ? log::Level::error
         : number >= 30 ? log::Level::warning
         : number >= 20 ? log::Level::info
                        : log::Level::debug;
}

/// Returns the options that --use-checkpoint-args takes from what is loaded, else from what the run
/// starts from; nothing without that flag.
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

/// Throws with everything that is wrong at once.
config::ParsedRun accept(config::ParsedRun parsed, const std::string& kind) {
  parsed = config::checked(std::move(parsed));
  if (parsed.values.text("model") != kind) {
    throw_usage("--model {}: the command is pretrain-{}; call pretrain-{}",
                parsed.values.text("model"), kind, parsed.values.text("model"));
  }
  if (const auto level = parsed.run.logging.logging_level) {
    log::set_level(level_of(*level));
  }
  return parsed;
}

/// Prints the options; those that have their default too only with --print-all-arguments. A file in
/// the folder of the logs has all of them in any case.
void print_arguments(const config::ParsedRun& parsed) {
  const bool all = parsed.values.flag("print_all_arguments");
  log::print(config::arguments_block(parsed.values, all));
  if (parsed.run.logging.tensorboard_dir && log::rank() == 0) {
    const std::filesystem::path folder = *parsed.run.logging.tensorboard_dir;
    make_folder("--tensorboard-dir", folder);
    AtomicFile file(folder / "arguments.txt");
    file.write(config::arguments_block(parsed.values, true) + "\n");
    file.commit();
  }
}

/// Checks the rules of the device that --device auto has left open until one was found.
void check_rules_of_device(config::ParsedRun& parsed, const char* device) {
  parsed.run.training.device = device;
  parsed.findings = config::check_constraints({.values = parsed.values, .run = parsed.run});
  parsed = config::with_training_rules(std::move(parsed));
  if (!parsed.findings.empty()) {
    throw Error(ExitCode::usage, config::to_text(parsed.findings));
  }
}

/// Tells that memory will not suffice before it is taken, which may last long before it fails.
void warn_of_little_memory(const config::RunConfig& config, comm::World& world) {
  Index ranks_here = 0;
  for (Index rank = 0; rank < world.size(); ++rank) {
    ranks_here += world.host(rank) == world.host(world.rank()) ? 1 : 0;
  }
  MemoryEstimate memory = estimate_memory(config);
  refuse_absurd_memory(static_cast<double>(ranks_here) * memory.total(), machine_memory());
  constexpr Index kFarFrom = 10;  // the formula is for 16 bits, and for recomputed attention
  if (!memory_shortage(memory, kFarFrom * ranks_here, machine_memory()).empty()) {
    memory = replay_memory(config);
  }
  const std::string shortage = memory_shortage(memory, ranks_here, machine_memory());
  if (!shortage.empty()) {
    log::warning("{}", shortage);
  }
}

void print_sample(const inference::TextGenerator& generator, const config::RunConfig& config) {
  const std::string text = generator.generate(
      *config.logging.sample_prompt, {.tokens = config.logging.sample_tokens,
                                      .temperature = config.logging.sample_temperature,
                                      .seed = static_cast<std::uint64_t>(config.training.seed)});
  log::print(fmt::format("a sample of what the model writes:\n\n{}\n", replace_invalid_utf8(text)));
}

/// Handles what differs between runs on a GPU and on the host, before the model is made.
void prepare_for(const device::Device& device, comm::World& ranks, config::ParsedRun& parsed) {
  check_rules_of_device(parsed, device.tensors_on_host() ? "host" : "cuda");
  if (!device.tensors_on_host()) {
    return;
  }
  if (parsed.run.optimizer.offload) {
    log::print(" > --optimizer-cpu-offload: the processor computes everything in this run");
  }
  warn_of_little_memory(parsed.run, ranks);
}

/// Has --eval-tasks measured at every evaluation of the run.
void measure_tasks(device::Device& device, train::Session& session) {
  std::vector<TaskRequest> requests;
  for (const std::string& text : session.config().logging.eval_tasks) {
    requests.push_back(task_request(text));
  }
  if (requests.empty()) {
    return;
  }
  session.measure([&device, &session, requests] {
    train::TaskEvaluation::Figures all;
    for (const TaskRequest& request : requests) {
      const TaskFigures figures = run_task(request, device, session);
      log::print(figures.line);
      all.insert(all.end(), figures.figures.begin(), figures.figures.end());
    }
    return all;
  });
}

/// Prints what the trained model writes, where it is asked for.
void print_sample_of(device::Device& device, train::Session& session) {
  if (session.config().logging.sample_prompt) {
    print_sample(inference::TextGenerator(device, session.model().chunk(0), session.tokenizer()),
                 session.config());
  }
}

int pretrain(const std::string& kind, const Arguments& words) {
  return run_model(kind, words, print_sample_of);
}

int pretrain_images(const std::string& task, const Arguments& words) {
  Arguments arguments = {"--vision-pretraining-type", task};
  arguments.insert(arguments.end(), words.begin(), words.end());
  return pretrain("vit", arguments);
}

}  // namespace

/// A run is parsed twice where the checkpoint or the launcher's true size changes what the options
/// mean. All ranks compare their options before the first rule is checked, because a rule that
/// fails on one rank alone would leave the others waiting.
int run_model(const std::string& kind, const Arguments& words, const AfterRun& after) {
  Arguments arguments = {"--model", kind};
  arguments.insert(arguments.end(), words.begin(), words.end());
  if (const auto help = config::requested_help(arguments)) {
    log::print(introduction(kind, words) + *help);
    return static_cast<int>(ExitCode::success);
  }
  const std::optional<ForeignModel> foreign = take_foreign_model(arguments);
  outlive_readers();
  train::remember_early_signals();
  const auto trace = std::make_shared<Trace>();
  config::ParsedRun parsed = config::parse_run(arguments, presumed_ranks());
  const std::shared_ptr<comm::World> ranks =
      launch_world(parsed.run.parallel.distributed_timeout_minutes, trace);
  auto checkpoint = checkpoint_arguments(parsed);
  if (foreign && !checkpoint) {
    checkpoint = foreign->arguments;
  }
  if (checkpoint || ranks->size() != presumed_ranks()) {
    parsed = config::parse_run(arguments, ranks->size(), checkpoint ? &*checkpoint : nullptr);
  }
  require_agreement(*ranks, common_lines(parsed, fingerprint()));
  parsed = accept(config::with_training_rules(std::move(parsed)), kind);
  checkpoint::on_member_0(*ranks->all(), [&] { train::check_output_folders(parsed.run); });
  print_arguments(parsed);
  const device::HostRuntime runtime;
  const auto device = make_run_device(parsed.run.training.device, *ranks, parsed.run.parallel);
  prepare_for(*device, *ranks, parsed);
  const auto world = comm::world_for_device(ranks, *device, device_transport(parsed.run.parallel));
  train::Session session(parsed, *device, world, fingerprint(), trace,
                         foreign ? foreign->weights : nullptr);
  measure_tasks(*device, session);
  const train::RunOutcome outcome = session.run();
  if (outcome.code == ExitCode::success) {
    after(*device, session);
  }
  return static_cast<int>(outcome.code);
}

int pretrain_gpt(const Arguments& arguments) {
  return pretrain("gpt", arguments);
}

int pretrain_bert(const Arguments& arguments) {
  return pretrain("bert", arguments);
}

int pretrain_t5(const Arguments& arguments) {
  return pretrain("t5", arguments);
}

int pretrain_vision_classify(const Arguments& arguments) {
  return pretrain_images("classify", arguments);
}

int pretrain_vision_inpaint(const Arguments& arguments) {
  return pretrain_images("inpaint", arguments);
}

int pretrain_vision_dino(const Arguments& arguments) {
  return pretrain_images("dino", arguments);
}

int pretrain_vlm(const Arguments& arguments) {
  return pretrain("vlm", arguments);
}

int pretrain_mamba(const Arguments& arguments) {
  return pretrain("mamba", arguments);
}

}  // namespace mpitron::cli
