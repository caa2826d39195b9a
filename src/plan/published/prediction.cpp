#include "plan/published/prediction.h"

#include <string_view>

#include <fmt/format.h>

#include "plan/machine/exit_codes.h"
#include "plan/search/search.h"

// Predicts a published step: machine and software by name, the settings that its source leaves out
// by assuming that its authors chose the fastest that fit.

namespace mpitron::plan {
namespace {

constexpr double kSearchMargin = 0.06;  // of memory, beside libraries
/// Returns whether a program writes attention's scores to memory: its row says so, or its article
/// is from before flash attention (arXiv:2205.14135, May 2022).
bool without_flash_attention(const PublishedRow& row) {
  constexpr const char* kFlashAttention = "2206";  // year and month: articles from here on know it
  constexpr std::string_view kArchive = "arXiv ";
  const std::size_t at = row.source.find(kArchive);
  const bool old = at != std::string::npos &&
                   row.source.substr(at + kArchive.size(), 4) < std::string(kFlashAttention);
  return old || row.options.find("no flash attention") != std::string::npos;
}

}  // namespace

/// Names go from the closest to the widest: tables of one source differ by release, and rows by
/// precision.
const ParameterFile& stack_file(const Library& library, const PublishedRow& row, bool* known) {
  const std::vector<std::string> names = {
      fmt::format("{}|{}|{}", row.source, row.table, row.options),
      fmt::format("{}|{}|{}", row.source, row.table, row.precision),
      fmt::format("{}|{}|{}", row.source, row.table, row.kind),
      fmt::format("{}|{}", row.source, row.table),
      fmt::format("{}|{}", row.source, row.kind),
      row.source};
  for (const std::string& name : names) {
    if (const ParameterFile* file = library.stacks.find(name)) {
      return *file;
    }
  }
  if (known != nullptr) {
    *known = false;
  }
  const bool sharded =
      row.run.parallel.sharding_strategy == config::ShardingStrategy::optim_grads_params;
  return *library.stacks.find(sharded                        ? "unknown, fully sharded"
                              : without_flash_attention(row) ? "unknown, without flash attention"
                                                             : "unknown");
}

RowParts parts_of(const Library& library, const PublishedRow& row) {
  RowParts parts{.machine = library.machine(row.hardware), .stack = std::nullopt};
  parts.stack = library.stack(stack_file(library, row, &parts.stack_is_known).name);
  return parts;
}

Prediction predict(const Machine& machine, const Stack& stack, const std::vector<Job>& candidates) {
  std::optional<StepTime> best;
  const Job* chosen = nullptr;
  for (const Job& job : candidates) {
    const StepTime time = step_time({machine, stack, job});
    if (!best || time.seconds() < best->seconds()) {
      best = time;
      chosen = &job;
    }
  }
  return {*chosen, *best};
}

double measured_seconds(const PublishedRow& row, const Machine& machine) {
  const config::TrainingConfig& training = row.run.training;
  const double gpus = Job::real(row.run.parallel.world_size);
  const double sequences = Job::real(training.global_batch_size);
  const double tokens = sequences * Job::real(row.run.model.seq_length);
  // A rate is turned back into seconds with the formula by which its source counted operations.
  const auto of_operations = [&](double rate) {
    return step_flops(make_job(row.run, row.practice), row.formula) / (rate * gpus);
  };
  switch (row.unit) {
    case FigureUnit::none:
      return row.seconds;
    case FigureUnit::seconds:
      return row.value;
    case FigureUnit::milliseconds:
      return row.value / 1000;
    case FigureUnit::tokens_of_gpu:
      return tokens / (row.value * gpus);
    case FigureUnit::tokens:
      return tokens / row.value;
    case FigureUnit::samples:
      return sequences / row.value;
    case FigureUnit::tera_of_gpu:
      return of_operations(1e12 * row.value);
    case FigureUnit::utilization:
      return of_operations(machine.peak_16 * row.value / 100);
  }
  return 0;
}

std::optional<Prediction> predict_best_layout(const Machine& machine, const Stack& stack,
                                              const PublishedRow& row) {
  if (row.run.model.num_layers == 0 || row.run.training.global_batch_size == 0) {
    return std::nullopt;
  }
  // No measured step tells how programs with tensor and pipeline ranks shard fully over nodes.
  const SearchSpace space{.job = make_job(row.run, row.practice), .fixed = {{"fsdp", 0}}};
  const double memory = machine.memory * (1 - kSearchMargin) - machine.fixed_memory;
  const SearchResult result = search(machine, stack, space, memory);
  if (result.fitting.empty()) {
    throw Error(kFitsNowhere, fmt::format("no layout of {} GPUs fits into {:.1f} GB of memory",
                                          row.run.parallel.world_size, memory / 1e9));
  }
  return Prediction{job_of(space, result.fitting.front()), result.fitting.front().time};
}

Prediction predict(const Machine& machine, const Stack& stack, const PublishedRow& row) {
  return predict(machine, stack, candidate_jobs(row, machine.memory));
}

}  // namespace mpitron::plan
