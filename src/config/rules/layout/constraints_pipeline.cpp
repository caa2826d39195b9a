#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/global_batch_size.h"
#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"

// Rules on stages, chunks and schedules: ways to deal out layers exclude each other, and each must
// use up the layers.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Holds for even splits alone; other ways have rules of their own.
Result layers_per_stage(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  if (has_uneven_stages(p) || counts_ends_as_layers(p) || p.pipeline_model_parallel_layout ||
      !p.pattern_segments.empty() || p.pipeline_model_parallel_size <= 0) {
    return {};
  }
  const Index layers = f.run.model.all_layers();
  const Index stages = p.pipeline_model_parallel_size * chunks_per_rank(p);
  std::string nearest =
      fmt::format("{} | {}", nearest_divisors("pipeline-model-parallel-size", layers, stages),
                  nearest_multiples("num-layers", layers, stages));
  return divides(layers, stages, nearest);
}

Result one_interleaving(const Facts& f) {
  const OptionValues& v = f.values;
  const int count = v.has("num_layers_per_virtual_pipeline_stage") +
                    v.has("num_virtual_stages_per_pipeline_rank") +
                    v.has("pipeline_model_parallel_layout");
  return count > 1 ? Violation{fmt::format("{} of them are given", count), ""} : Result();
}

/// Chunks of a rank need 2 stages, and 3 where messages are not overlapped: the reference does not
/// send and receive several messages between the same two ranks in one batch.
Result interleaved_stages(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const Index least = p.overlap_p2p_comm ? 2 : 3;
  return chunks_per_rank(p) > 1 && p.pipeline_model_parallel_size < least
             ? Violation{fmt::format("{} stages", p.pipeline_model_parallel_size),
                         fmt::format("--pipeline-model-parallel-size {}", least)}
             : Result();
}

/// Refuses a last group that is shorter than the stages: it would leave the pipeline waiting.
Result microbatch_groups(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const Index unit = f.run.training.micro_batch_size * p.data_parallel_size;
  const Index group = p.microbatch_group_size_per_vp_stage;
  if (chunks_per_rank(p) <= 1 || unit <= 0 || group <= 0) {
    return {};
  }
  const Index microbatches = num_microbatches(f.run.training, p.data_parallel_size);
  const Index rest = microbatches % group;
  if (group >= p.pipeline_model_parallel_size &&
      (rest == 0 || rest >= p.pipeline_model_parallel_size)) {
    return {};
  }
  return Violation{
      fmt::format("{} micro batches in groups of {} over {} stages", microbatches, group,
                  p.pipeline_model_parallel_size),
      nearest_multiples("global-batch-size", f.run.training.global_batch_size, group * unit)};
}

/// Automatic fits always: it takes the schedule by stages and chunks.
Result schedule_fits(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const bool chunks = chunks_per_rank(p) > 1;
  if (p.pipeline_schedule == PipelineSchedule::automatic ||
      (p.pipeline_model_parallel_size > 1 &&
       (p.pipeline_model_parallel_layout ||
        chunks == (p.pipeline_schedule == PipelineSchedule::interleaved)))) {
    return {};
  }
  return Violation{fmt::format("{} with {} stages of {} chunks",
                               f.values.maybe_text("pipeline_schedule").value_or(""),
                               p.pipeline_model_parallel_size, chunks_per_rank(p)),
                   chunks ? "--pipeline-schedule interleaved"
                          : "--pipeline-schedule 1f1b --pipeline-model-parallel-size 2"};
}

/// Gradients are deferred as products that add into the main gradient; apart they would need room
/// for each microbatch.
Result deferred_output(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  if (f.values.integer("wgrad_deferral_limit") < 0) {
    return Violation{fmt::format("limit {}", f.values.integer("wgrad_deferral_limit")),
                     "--wgrad-deferral-limit 0"};
  }
  if (!p.deferred_embedding_wgrads) {
    return {};
  }
  if (p.pipeline_model_parallel_size < 2) {
    return Violation{"1 stage", "--pipeline-model-parallel-size 2"};
  }
  if (!f.run.model.gradient_accumulation_fusion) {
    return Violation{"gradients are added apart", "leave out --no-gradient-accumulation-fusion"};
  }
  return p.pipeline_schedule == PipelineSchedule::zero_bubble
             ? Violation{"zero-bubble defers all weights already",
                         "leave out --defer-embedding-wgrad-compute"}
             : Result();
}

constexpr std::array kPipelineRules = std::to_array<Constraint>({
    {"E017", "layers_per_stage",
     "num_layers % (pipeline_model_parallel_size * virtual stages) == 0",
     "num-layers pipeline-model-parallel-size num-layers-per-virtual-pipeline-stage "
     "num-virtual-stages-per-pipeline-rank",
     "Every stage of an even pipeline holds the same number of layers; "
     "--decoder-first-pipeline-num-layers, "
     "--decoder-last-pipeline-num-layers or --pipeline-model-parallel-layout describe uneven "
     "ones.",
     layers_per_stage},
    {"E080", "one_interleaving",
     "one of --num-layers-per-virtual-pipeline-stage, --num-virtual-stages-per-pipeline-rank, "
     "--pipeline-model-parallel-layout",
     "num-layers-per-virtual-pipeline-stage num-virtual-stages-per-pipeline-rank "
     "pipeline-model-parallel-layout",
     "They describe the same thing.", one_interleaving},
    {"E081", "interleaved_stages",
     "interleaving needs 2 pipeline stages, without overlapped messages 3",
     "pipeline-model-parallel-size no-overlap-p2p-communication",
     "A rank must not wait for itself.", interleaved_stages},
    {"E085", "microbatch_groups",
     "group >= stages, and micro batches % group is 0 or at least the number of stages",
     "microbatch-group-size-per-virtual-pipeline-stage global-batch-size "
     "pipeline-model-parallel-size",
     "A chunk runs a group of micro batches before the next chunk's turn; a short last group "
     "would stall.",
     microbatch_groups},
    {"E086", "schedule_fits",
     "--pipeline-schedule: several stages; several chunks per stage with interleaved, else one",
     "pipeline-schedule pipeline-model-parallel-size num-virtual-stages-per-pipeline-rank "
     "num-layers-per-virtual-pipeline-stage",
     "1f1b and zero-bubble run one chunk per stage; without stages there is nothing to order.",
     schedule_fits},
    {"E087", "deferred_output",
     "--defer-embedding-wgrad-compute needs several stages and fused gradient accumulation, no "
     "zero-bubble and a limit of at least 0",
     "defer-embedding-wgrad-compute wgrad-deferral-limit pipeline-model-parallel-size "
     "pipeline-schedule no-gradient-accumulation-fusion",
     "The last stage has time for the output matrix while the others finish.", deferred_output},
});

}  // namespace

std::span<const Constraint> pipeline_constraints() {
  return kPipelineRules;
}

}  // namespace mpitron::config
