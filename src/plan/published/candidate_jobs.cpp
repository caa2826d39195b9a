#include <algorithm>
#include <utility>

#include "plan/memory/device_memory.h"
#include "plan/published/prediction.h"
#include "plan/published/recipes.h"

// Settings that the source of a published step leaves out, in all ways that fit.

namespace mpitron::plan {
namespace {

constexpr double kUsableMemory = 0.93;  // the rest is libraries, buffers and fragments

/// Returns the microbatch sizes to try: the row's own, else small powers of 2 that divide the
/// samples of a replica.
std::vector<Index> micro_batches(const PublishedRow& row) {
  if (row.micro_batch) {
    return {*row.micro_batch};
  }
  const Index of_a_rank = row.run.training.global_batch_size / row.run.parallel.data_parallel_size;
  std::vector<Index> result;
  for (Index size = 1; size <= 16; size *= 2) {
    if (of_a_rank % size == 0) {
      result.push_back(size);
    }
  }
  return result.empty() ? std::vector<Index>{1} : result;
}

/// Returns the numbers of chunks to try: the row's own, else all that divide the layers of a stage.
std::vector<Index> chunk_counts(const PublishedRow& row) {
  if (row.chunks) {
    return {*row.chunks};
  }
  std::vector<Index> result = {1};
  const Index stages = row.run.parallel.pipeline_model_parallel_size;
  const Index of_a_stage = row.run.model.num_layers / stages;
  for (Index chunks = 2; chunks <= of_a_stage && stages > 1; ++chunks) {
    if (of_a_stage % chunks == 0) {
      result.push_back(chunks);
    }
  }
  return result;
}

/// Lets as many layers of each chunk recompute as it takes to fit.
void choose_recompute(Job& job, double memory) {
  config::ModelConfig& model = job.run.model;
  if (fullest_stage(job).total() <= memory) {
    return;
  }
  const pipeline::StageLayout layout = stage_layout(job);
  Index most = 1;
  for (Index stage = 0; stage < layout.stages(); ++stage) {
    most = std::max(most, layout.layers(stage, 0).count);
  }
  model.recompute_granularity = config::RecomputeGranularity::full;
  model.recompute_method = config::RecomputeMethod::block;
  for (model.recompute_num_layers = 1;
       model.recompute_num_layers < most && fullest_stage(job).total() > memory;
       ++model.recompute_num_layers) {
  }
}

}  // namespace

std::vector<Job> candidate_jobs(const PublishedRow& given, double memory) {
  PublishedRow row = given;
  apply_recipes(shipped_recipes(), row);
  std::vector<Job> jobs;
  for (const Index chunks : chunk_counts(row)) {
    for (const Index micro_batch : micro_batches(row)) {
      config::RunConfig run = row.run;
      Layout layout = layout_of(run);
      if (std::exchange(layout.chunks, chunks) != chunks) {
        const bool sequence_parallel = run.parallel.sequence_parallel;
        apply(layout, run);
        run.parallel.sequence_parallel = sequence_parallel;
      }
      run.training.micro_batch_size = micro_batch;
      Job job = make_job(std::move(run), row.practice);
      if (!row.recompute_known) {
        choose_recompute(job, kUsableMemory * memory);
      }
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

}  // namespace mpitron::plan
