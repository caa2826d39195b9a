#include "plan/published/prediction.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/memory/device_memory.h"

namespace mpitron::plan {
namespace {

constexpr double kUsableMemory = 0.93;  // the rest is libraries, buffers and fragments

std::vector<Index> micro_batches(const PublishedRow& row) {
  if (row.micro_batch) {
    return {*row.micro_batch};
  }
  const Index of_a_rank = row.job.global_batch / row.job.layout.data();
  std::vector<Index> result;
  for (Index size = 1; size <= 16; size *= 2) {
    if (of_a_rank % size == 0) {
      result.push_back(size);
    }
  }
  return result.empty() ? std::vector<Index>{1} : result;
}

std::vector<Index> chunk_counts(const PublishedRow& row) {
  if (row.chunks) {
    return {*row.chunks};
  }
  std::vector<Index> result = {1};
  const Index of_a_stage = row.job.model.layers / row.job.layout.pipeline;
  for (Index chunks = 2; chunks <= of_a_stage && row.job.layout.pipeline > 1; ++chunks) {
    if (of_a_stage % chunks == 0) {
      result.push_back(chunks);
    }
  }
  return result;
}

/// As many layers recompute as it takes to fit, which `share` corrects: programs also offload, or
/// recompute parts of layers.
void choose_recompute(Job& job, double memory, double share) {
  job.layout.recompute = Recompute::none;
  const double without = fullest_stage(job).total();
  job.layout.recompute = Recompute::full;
  job.layout.recomputed = 1;
  const double with = fullest_stage(job).total();
  const double missing = without - kUsableMemory * memory;
  job.layout.recomputed =
      missing <= 0 ? 0 : std::min(1.0, share * missing / std::max(1.0, without - with));
  if (job.layout.recomputed == 0) {
    job.layout.recompute = Recompute::none;
  }
}

}  // namespace

std::vector<std::string> stack_names(const PublishedRow& row) {
  const std::string precision = to_string(row.job.precision);
  return {fmt::format("{}|{}|{}", row.source, row.table, row.options),
          fmt::format("{}|{}|{}", row.source, row.table, precision),
          fmt::format("{}|{}|{}", row.source, row.table, row.kind),
          fmt::format("{}|{}", row.source, row.table),
          fmt::format("{}|{}", row.source, row.kind),
          row.source};
}

RowParts parts_of(const Library& library, const PublishedRow& row) {
  RowParts parts{.machine = library.machine(row.hardware), .stack = std::nullopt};
  for (const std::string& name : stack_names(row)) {
    if (!parts.stack) {
      parts.stack = library.stack(name);
    }
  }
  if (!parts.stack) {
    parts.stack = library.stack("unknown");
    parts.stack_is_known = false;
  }
  return parts;
}

Prediction predict(const Machine& machine, const Stack& stack, const PublishedRow& row) {
  std::optional<Prediction> best;
  Job job = row.job;
  for (const Index micro_batch : micro_batches(row)) {
    job.layout.micro_batch = micro_batch;
    for (const Index chunks : chunk_counts(row)) {
      job.layout.chunks = chunks;
      if (!row.recompute) {
        choose_recompute(job, machine.memory, stack.recompute);
      }
      const StepTime time = step_time({machine, stack, job});
      if (!best || time.seconds() < best->time.seconds()) {
        best = Prediction{job, time};
      }
    }
  }
  return *best;
}

}  // namespace mpitron::plan
