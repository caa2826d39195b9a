#include <algorithm>
#include <utility>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/show/memory_estimate.h"
#include "cli/show/plan_commands.h"
#include "cli/show/run_layout.h"
#include "cli/training_words.h"
#include "config/parse/parse.h"
#include "config/values/option_help.h"
#include "pipeline/draw.h"
#include "train/model/rank_layout.h"
#include "utils/error.h"
#include "utils/log.h"

// `mpitron plan`: without --machine the layout of a run over its ranks (stages, schedule, bubble,
// groups), exactly as the run would make it; the other forms of the command are dispatched from
// here to their files.

namespace mpitron::cli {
namespace {

constexpr const char* kPlanHelp =
    "usage: mpitron plan OPTIONS --world-size N [--show-groups] [--show-schedule] [--json]\n\n"
    "Shows how a run would be laid out over N ranks, without starting any: which layers lie "
    "where,\n"
    "how much of the time the pipeline idles, what a rank keeps in memory, who is in a group\n"
    "with whom (--show-groups), what each stage does when "
    "(--show-schedule; F3 forward, B3 backward of microbatch 3, with\n"
    "zero-bubble W3 the weights' part of it).\n\n"
    "mpitron plan --validate FILE [--rows] [--refit] [--json]: steps of a table of measured ones,\n"
    "predicted, and the errors by class.\n\n"
    "mpitron plan OPTIONS --machine NAME|FILE.yaml [--stack NAME] --world-size N: step time, "
    "memory\n"
    "and energy of the layout on this machine; with --search --gpus N the best ones on N GPUs:\n"
    "  --top N  --fix tp=8,pp=4 (tp cp pp vp ep etp mbs fsdp)  --memory-margin PERCENT  "
    "--save-flags FILE\n"
    "  --why tp=4,pp=8  --what-if network.share=0.5,tensor-overlap=0 (factors)  --tokens 1e12\n"
    "  --price-per-gpu-hour 2.5  --power-price 0.12 (a kWh)\n"
    "  --gpu-mtbf-hours 50000  --checkpoint-seconds 60  --restart-seconds 600  --durable-seconds "
    "120\n"
    "  --start-up (its phases)  --replay (memory by the program itself)\n"
    "  --flops-formula "
    "megatron|full|hardware|6N\n\n"
    "mpitron plan OPTIONS --world-size N --dry-run all|RANK: the program of every class of ranks,\n"
    "played without devices and peers: memory, groups, and the proof that all ranks fit "
    "together.\n\n"
    "mpitron plan --fit RUN_DIR... --machine M [--stack-out FILE]: values of the software from\n"
    "steps of runs\n"
    "mpitron plan --from-trace DIR --machine M [--what-if pp=8]: from a profiled run\n";

/// Groups of the expert grid by the axes that their ranks differ in; train::kDenseGroups has those
/// of the dense one.
constexpr train::NamedAxes kExpertGroups[] = {{"expert", "ep"},
                                              {"expert tensor", "tp"},
                                              {"expert tensor x expert", "tp-ep"},
                                              {"expert data", "dp"}};

/// The layout of a run, as every form of output tells it.
struct Plan {
  config::ParallelConfig parallel;
  PlannedSchedule pipeline;
  comm::RankGrid grid;
  bool has_experts = false;
  std::string memory;
  std::optional<Index> ranks_per_node;
};

struct NamedGroups {
  const char* name;
  std::vector<std::vector<Index>> groups;
};

/// Lists the groups of dense layers and, where the model has experts, those of the expert grid,
/// which divides the same ranks in another way.
std::vector<NamedGroups> groups_of(const Plan& plan) {
  std::vector<NamedGroups> all;
  for (const train::NamedAxes& named : train::kDenseGroups) {
    all.push_back({named.name, plan.grid.dense().groups(comm::AxisSet::parse(named.axes))});
  }
  if (plan.has_experts) {
    for (const train::NamedAxes& named : kExpertGroups) {
      all.push_back({named.name, plan.grid.expert().groups(comm::AxisSet::parse(named.axes))});
    }
  }
  return all;
}

/// Lays the run out by the functions that training calls; the memory is that of a replayed program.
Plan make_plan(const config::ParsedRun& parsed) {
  const config::RunConfig& run = parsed.run;
  PlannedSchedule pipeline = plan_schedule(run);
  return {.parallel = run.parallel,
          .pipeline = std::move(pipeline),
          .grid = train::make_rank_grid(run.parallel, run.parallel.world_size),
          .has_experts = run.model.moe.has_value(),
          .memory = to_text(replay_memory(run)),
          .ranks_per_node = parsed.values.maybe_integer("ranks_per_node")};
}

/// Writes what a stage's chunk holds; layers are counted from 1, as in options.
std::string layers_line(const pipeline::ChunkLayers& layers) {
  std::string text = layers.has_embedding ? "embedding, " : "";
  text += layers.count == 0 ? "no layers"
          : layers.count == 1
              ? fmt::format("layer {}", layers.first + 1)
              : fmt::format("layers {} to {}", layers.first + 1, layers.first + layers.count);
  return text + (layers.has_loss ? ", output and loss" : "");
}

/// Prints the sizes of the grids, the layers of each stage, the schedule with its bubble (the share
/// of idle time), and the memory.
void print_summary(const Plan& plan) {
  const config::ParallelConfig& p = plan.parallel;
  log::print(fmt::format("{} ranks = {} tensor x {} context x {} data x {} pipeline", p.world_size,
                         p.tensor_model_parallel_size, p.context_parallel_size,
                         p.data_parallel_size, p.pipeline_model_parallel_size));
  if (plan.has_experts) {
    using enum comm::Axis;
    const comm::Grid& experts = plan.grid.expert();
    log::print(fmt::format("for experts {} tensor x {} expert x {} data x {} pipeline",
                           experts.size(tensor), experts.size(expert), experts.size(data),
                           experts.size(pipeline)));
  }
  for (Index stage = 0; stage < plan.pipeline.layout.stages(); ++stage) {
    for (Index chunk = 0; chunk < plan.pipeline.layout.chunks(); ++chunk) {
      log::print(fmt::format("  stage {} chunk {}: {}", stage, chunk,
                             layers_line(plan.pipeline.layout.layers(stage, chunk))));
    }
  }
  Index live = 0;
  for (const pipeline::StageSimulation& stage : plan.pipeline.simulation.stages) {
    live = std::max(live, stage.peak_live_tapes);
  }
  log::print(fmt::format(
      "schedule {}: {} microbatches, bubble {:.1f} %, activations of at most {} microbatches",
      pipeline::to_string(plan.pipeline.schedule.options.kind),
      plan.pipeline.schedule.options.microbatches, 100 * plan.pipeline.simulation.bubble(), live));
  log::print(plan.memory);
}

/// Prints which GPU a rank takes, and which kinds of groups stay on a node. Ranks fill nodes in
/// order.
void print_nodes(const Plan& plan) {
  const Index per_node = *plan.ranks_per_node;
  std::vector<std::string_view> within, between;
  for (const auto& [name, groups] : groups_of(plan)) {
    const bool stays = std::ranges::all_of(groups, [&](const std::vector<Index>& ranks) {
      return std::ranges::all_of(
          ranks, [&](Index rank) { return rank / per_node == ranks[0] / per_node; });
    });
    (stays ? within : between).push_back(name);
  }
  log::print(fmt::format(
      "{} nodes: ranks 0 to {} of a node take its GPUs 0 to {}; within a node: {}; over nodes: {}",
      (plan.parallel.world_size + per_node - 1) / per_node, per_node - 1, per_node - 1,
      fmt::join(within, ", "),
      between.empty() ? "none" : fmt::format("{}", fmt::join(between, ", "))));
}

/// Prints the first groups of each kind and their first ranks: thousands of ranks would fill the
/// screen.
void print_groups(const Plan& plan) {
  constexpr std::size_t kShown = 16;
  for (const auto& [name, groups] : groups_of(plan)) {
    log::print(fmt::format("{}: {} groups of {}", name, groups.size(), groups[0].size()));
    for (std::size_t i = 0; i < std::min(kShown, groups.size()); ++i) {
      const auto& ranks = groups[i];
      const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, ranks.size()));
      log::print(fmt::format("  {}{}", fmt::join(ranks.begin(), end, " "),
                             end != ranks.end() ? " ..." : ""));
    }
    if (groups.size() > kShown) {
      log::print(fmt::format("  ... {} more; --json lists all", groups.size() - kShown));
    }
  }
}

/// Returns members of an object with the ranks of all groups, uncut.
std::string groups_json(const Plan& plan) {
  std::string text;
  for (const auto& [name, groups] : groups_of(plan)) {
    text += fmt::format(R"(, "{} groups": [)", name);
    const char* separator = "";
    for (const auto& ranks : groups) {
      text += fmt::format("{}[{}]", separator, fmt::join(ranks, ", "));
      separator = ", ";
    }
    text += "]";
  }
  return text;
}

/// Writes the sizes and the schedule, and with `with_groups` the ranks of all groups.
std::string to_json(const Plan& plan, bool with_groups) {
  const config::ParallelConfig& p = plan.parallel;
  const std::string text = fmt::format(
      R"({{"world_size": {}, "tensor": {}, "context": {}, "data": {}, "pipeline": {}, "chunks": {}, )"
      R"("schedule": "{}", "microbatches": {}, "bubble": {:.6g})",
      p.world_size, p.tensor_model_parallel_size, p.context_parallel_size, p.data_parallel_size,
      p.pipeline_model_parallel_size, plan.pipeline.layout.chunks(),
      pipeline::to_string(plan.pipeline.schedule.options.kind),
      plan.pipeline.schedule.options.microbatches, plan.pipeline.simulation.bubble());
  return text + (with_groups ? groups_json(plan) : "") + "}";
}

bool has_option(const Arguments& arguments, const std::string& option) {
  return std::ranges::any_of(arguments, [&](const std::string& word) {
    return word == option || word.starts_with(option + "=");
  });
}

}  // namespace

/// Forms that need no run's options come before --help, which explains those of a run.
int plan(const Arguments& words) {
  const Arguments arguments = training_options(words);
  if (has_option(arguments, "--validate")) {
    return plan_validation(arguments);
  }
  if (has_option(arguments, "--fit")) {
    return plan_fit(arguments);
  }
  if (has_option(arguments, "--from-trace")) {
    return plan_from_trace(arguments);
  }
  if (const auto help = config::requested_help(arguments)) {
    log::print(kPlanHelp + *help);
    return static_cast<int>(ExitCode::success);
  }
  if (has_option(arguments, "--dry-run")) {
    return plan_dry_run(arguments);
  }
  if (has_option(arguments, "--machine")) {
    return plan_machine(arguments);
  }
  Arguments flags = arguments;
  const bool json = take_flag(flags, "--json");
  const bool show_groups = take_flag(flags, "--show-groups");
  const bool show_schedule = take_flag(flags, "--show-schedule");
  const Plan plan = make_plan(config::parse_valid_run(flags));
  if (json) {
    log::print(to_json(plan, show_groups));
    return static_cast<int>(ExitCode::success);
  }
  print_summary(plan);
  if (plan.ranks_per_node) {
    print_nodes(plan);
  }
  if (show_groups) {
    print_groups(plan);
  }
  if (show_schedule) {
    constexpr Index kColumns = 200;
    log::print(pipeline::draw(plan.pipeline.schedule, {}, kColumns));
  }
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli
