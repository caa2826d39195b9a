#include <map>

#include "cli/show/plan_commands.h"
#include "config/parse/parse.h"
#include "config/values/option_values.h"
#include "plan/dry_run/job_player.h"
#include "plan/dry_run/matching.h"
#include "plan/machine/exit_codes.h"
#include "plan/model/job.h"
#include "train/model/rank_layout.h"
#include "utils/log.h"

// `mpitron plan --dry-run`: plays the step's program of one rank, or of one rank of each class that
// do the same, on tensors without memory, and checks that the recorded operations of all ranks
// match. A deadlock or a mismatch is thus found without the machine.

namespace mpitron::cli {
namespace {

constexpr double kMegabyte = 1024.0 * 1024.0;

double megabytes(Index bytes) {
  return static_cast<double>(bytes) / kMegabyte;
}

std::string memory_line(const plan::RankReplay& replay) {
  const plan::ReplayedMemory& m = replay.memory;
  return fmt::format(
      "{:.1f} MB of tensors at the peak: {:.1f} parameters, {:.1f} gradients, {:.1f} optimizer and "
      "buffers, {:.1f} activations and scratch; the peak is at launch {} of {} ({})",
      megabytes(m.peak), megabytes(m.parameters), megabytes(m.gradients), megabytes(m.optimizer),
      megabytes(m.activations()), replay.peak_launch + 1, replay.launches, replay.peak_kernel);
}

/// Bytes of tensors; peak_launch counts from 0 here and from 1 in the text.
std::string memory_json(const plan::RankReplay& replay) {
  const plan::ReplayedMemory& m = replay.memory;
  return fmt::format(
      R"({{"rank": {}, "peak_bytes": {}, "reserved_bytes": {}, "parameters": {}, "gradients": {}, )"
      R"("optimizer": {}, "activations": {}, "launches": {}, "peak_launch": {}, "operations": {}}})",
      replay.rank, m.peak, m.reserved, m.parameters, m.gradients, m.optimizer, m.activations(),
      replay.launches, replay.peak_launch, replay.record.events.size());
}

/// Operations of a record by group and kind: how many, and elements of all of them.
struct Traffic {
  std::size_t operations = 0;
  Index elements = 0;
};

/// Sums starts, not waits: an operation that is started and waited for is one.
void print_traffic(const comm::RankRecord& record) {
  std::map<std::pair<std::string, std::string>, Traffic> sums;
  for (const comm::GroupEvent& event : record.events) {
    if (!event.waits) {
      Traffic& sum = sums[{record.groups[event.group].name, comm::name_of(event.kind)}];
      ++sum.operations;
      sum.elements += std::max(event.sent, event.received);
    }
  }
  for (const auto& [what, sum] : sums) {
    log::print(fmt::format("  {:24} {:15} {:7} operations, {} elements", what.first, what.second,
                           sum.operations, sum.elements));
  }
}

/// Prints launches with equal arguments as one line, the most frequent first.
void print_kernels(const plan::RankReplay& replay, std::size_t most) {
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const plan::ReplayedLaunch& launch : replay.kernels) {
    ++counts[{launch.kernel, launch.arguments}];
  }
  std::vector<std::pair<std::size_t, std::string>> lines;
  for (const auto& [what, count] : counts) {
    lines.emplace_back(count, fmt::format("{} ({})", what.first, what.second));
  }
  std::ranges::sort(lines, std::greater{});
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) {
    log::print(fmt::format("  {:7} x {}", lines[i].first, lines[i].second));
  }
  if (lines.size() > most) {
    log::print(fmt::format("  ... {} more; --json lists all", lines.size() - most));
  }
}

void print_operations(const comm::RankRecord& record, std::size_t most) {
  std::size_t shown = 0;
  for (const comm::GroupEvent& event : record.events) {
    if (event.waits) {
      continue;
    }
    if (++shown <= most) {
      log::print(fmt::format("  {:5} {:24} {}", event.call + 1, record.groups[event.group].name,
                             plan::describe(event)));
    }
  }
  if (shown > most) {
    log::print(fmt::format("  ... {} more", shown - most));
  }
}

int show_rank(const config::RunConfig& run, Index rank, bool json) {
  const Index ranks = run.parallel.world_size;
  if (rank < 0 || rank >= ranks) {
    throw_usage("plan: --dry-run {}: the run has ranks 0 to {}; `all` for all of them", rank,
                ranks - 1);
  }
  const plan::RankReplay replay = plan::replay_rank(run, rank, {.lists_kernels = true});
  if (json) {
    log::print(memory_json(replay));
    return static_cast<int>(ExitCode::success);
  }
  const comm::RankGrid grid = train::make_rank_grid(run.parallel, ranks);
  using enum comm::Axis;
  const comm::Grid& dense = grid.dense();
  log::print(fmt::format("rank {} of {}: tensor {}, context {}, data {}, stage {}", rank, ranks,
                         dense.coordinate(rank, tensor), dense.coordinate(rank, context),
                         dense.coordinate(rank, data), dense.coordinate(rank, pipeline)));
  log::print(memory_line(replay));
  log::print("groups:");
  for (const comm::RankRecord::Member& member : replay.record.groups) {
    log::print(fmt::format("  {:24} {} ranks, first {}, last {}", member.name, member.ranks.size(),
                           member.ranks.front(), member.ranks.back()));
  }
  log::print("traffic of a step:");
  print_traffic(replay.record);
  constexpr std::size_t kMostLines = 40;
  log::print("operations in order:");
  print_operations(replay.record, kMostLines);
  log::print("kernels with their arguments:");
  print_kernels(replay, kMostLines);
  return static_cast<int>(ExitCode::success);
}

/// Checks in two steps: whether the operations of all ranks match and none waits for ever, with
/// sends that wait for their receives, and whether that holds, too, when a device runs one group's
/// collective at a time. Only the first is required; exit code kDoesNotFit without it.
int show_all(const config::RunConfig& run, bool json) {
  const plan::JobRecord job = plan::record_job(run);
  const plan::Proof proof = plan::prove(job);
  std::size_t operations = 0;
  for (Index rank = 0; rank < job.ranks(); ++rank) {
    operations += job.record(rank).events.size();
  }
  if (json) {
    std::string text = fmt::format(R"({{"ranks": {}, "classes": [)", job.ranks());
    const char* separator = "";
    for (const plan::RankReplay& one : job.classes) {
      text += separator + memory_json(one);
      separator = ", ";
    }
    log::print(text + fmt::format(R"(], "groups": {}, "events": {}, "proven": {}, )"
                                  R"("shares_device": {}}})",
                                  job.groups.size(), operations, !proof.problem,
                                  proof.shares_device));
  } else {
    log::print(fmt::format("{} ranks in {} classes, {} groups, {} operations and waits",
                           job.ranks(), job.classes.size(), job.groups.size(), operations));
    for (const plan::RankReplay& one : job.classes) {
      log::print(fmt::format("  as rank {}: {}", one.rank, memory_line(one)));
    }
  }
  if (proof.problem) {
    throw Error(plan::kDoesNotFit, *proof.problem);
  }
  if (!json) {
    log::print(
        "all collectives and messages match, and nobody waits for ever, with messages that wait "
        "for their receives");
    log::print(proof.shares_device
                   ? "collectives of all groups may share a device in the order of their starts"
                   : "collectives of different groups need room on a device at the same time");
  }
  return static_cast<int>(ExitCode::success);
}

}  // namespace

int plan_dry_run(const Arguments& arguments) {
  Arguments flags = arguments;
  const std::string what = *take_value(flags, "--dry-run");
  const bool json = take_flag(flags, "--json");
  const config::RunConfig run = plan::with_vocabulary(config::parse_valid_run(flags).run);
  if (what == "all") {
    return show_all(run, json);
  }
  const std::optional<Index> rank = config::read_integer(what);
  if (!rank) {
    throw_usage("plan: --dry-run {}: `all` or the number of a rank is expected", what);
  }
  return show_rank(run, *rank, json);
}

}  // namespace mpitron::cli
