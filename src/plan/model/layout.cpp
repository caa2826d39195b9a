#include "plan/model/layout.h"

#include <array>

#include <fmt/format.h>

// Layouts of a search as options of a run, and back.

namespace mpitron::plan {
namespace {

/// Names of config::RecomputeModule, in its order, as --recompute-modules has them.
constexpr std::array<const char*, 7> kModules = {
    "core_attn", "moe_act", "layernorm", "mla_up_proj", "mlp", "moe", "shared_experts"};

}  // namespace

bool divides_evenly(Index layers, Index virtual_stages, bool accounted) {
  return (layers + (accounted ? 2 : 0)) % virtual_stages == 0;
}

std::string layout_string(Index layers, Index virtual_stages, Index depths) {
  const Index each = layers / virtual_stages, more = layers % virtual_stages;
  // The stages with a layer more stand in the middle: the first also has the embedding and the last
  // the loss.
  const Index before = (virtual_stages - more) / 2;  // stages with `each` in front of those
  std::string text;
  for (Index stage = 0; stage < virtual_stages; ++stage) {
    const Index count = each + (stage >= before && stage < before + more ? 1 : 0);
    text += stage == 0 ? "E" : "|";
    text += count > 0 ? fmt::format("t*{}", count) : "";
  }
  return text + std::string(static_cast<std::size_t>(depths), 'm') + "L";
}

/// Options of an earlier layout are reset: a layout is whole, not a change. Layers that do not
/// divide are first tried with embedding and loss as one layer each, as Megatron's options can say,
/// and else written out as a string.
void apply(const Layout& layout, config::RunConfig& run) {
  config::ParallelConfig& p = run.parallel;
  p.world_size = layout.gpus;
  p.tensor_model_parallel_size = layout.tensor;
  p.sequence_parallel = layout.tensor > 1;
  p.context_parallel_size = layout.context;
  p.pipeline_model_parallel_size = layout.pipeline;
  p.virtual_pipeline_model_parallel_size =
      layout.chunks > 1 ? std::optional(layout.chunks) : std::nullopt;
  p.num_layers_per_virtual_pipeline_stage.reset();
  p.microbatch_group_size_per_vp_stage = layout.pipeline;
  p.overlap_p2p_comm = layout.chunks > 1;
  p.expert_model_parallel_size = layout.expert;
  p.expert_tensor_parallel_size = layout.expert_tensor;
  p.data_parallel_size = layout.data();
  p.sharding_strategy = layout.sharding;
  p.use_distributed_optimizer = layout.sharding != config::ShardingStrategy::no_shard;
  p.decoder_first_pipeline_num_layers.reset();
  p.decoder_last_pipeline_num_layers.reset();
  p.pipeline_model_parallel_layout.reset();
  p.pattern_segments.clear();
  const Index layers = run.model.all_layers(), parts = layout.pipeline * layout.chunks;
  const bool even = divides_evenly(layers, parts, false);
  const bool accounted = !even && parts > 2 && divides_evenly(layers, parts, true);
  p.account_for_embedding_in_pipeline_split = accounted;
  p.account_for_loss_in_pipeline_split = accounted;
  if (!even && !accounted) {
    p.pipeline_model_parallel_layout =
        layout_string(layers, parts, run.model.mtp_num_layers.value_or(0));
  }
  run.training.micro_batch_size = layout.micro_batch;
}

Layout layout_of(const config::RunConfig& run) {
  const config::ParallelConfig& p = run.parallel;
  return {.gpus = p.world_size,
          .tensor = p.tensor_model_parallel_size,
          .context = p.context_parallel_size,
          .pipeline = p.pipeline_model_parallel_size,
          .chunks = p.virtual_pipeline_model_parallel_size.value_or(1),
          .expert = p.expert_model_parallel_size,
          .expert_tensor = p.expert_tensor_parallel_size > 0 ? p.expert_tensor_parallel_size
                                                             : p.tensor_model_parallel_size,
          .micro_batch = run.training.micro_batch_size,
          .sharding = p.sharding_strategy};
}

const char* to_string(config::ShardingStrategy sharding) {
  constexpr std::array<const char*, 4> kNames = {"no_shard", "optim", "optim_grads",
                                                 "optim_grads_params"};
  return kNames[static_cast<std::size_t>(sharding)];
}

std::string module_names(const config::RecomputeConfig& recompute, const std::string& separator) {
  std::string text;
  for (const config::RecomputeModule module : recompute.recompute_modules) {
    text += (text.empty() ? "" : separator) + kModules[static_cast<std::size_t>(module)];
  }
  return text;
}

std::string to_text(const config::RecomputeConfig& recompute) {
  switch (recompute.recompute_granularity) {
    case config::RecomputeGranularity::none:
      return "none";
    case config::RecomputeGranularity::full:
      return recompute.recompute_method == config::RecomputeMethod::block
                 ? fmt::format("full {}", recompute.recompute_num_layers)
                 : "full";
    case config::RecomputeGranularity::selective:
      break;
  }
  return module_names(recompute, "+");
}

std::string to_text(const config::RunConfig& run) {
  const Layout l = layout_of(run);
  return fmt::format("tp {} cp {} pp {} vp {} ep {} mbs {} dp {} {} recompute {}", l.tensor,
                     l.context, l.pipeline, l.chunks, l.expert, l.micro_batch, l.data(),
                     to_string(l.sharding),
                     to_text(static_cast<const config::RecomputeConfig&>(run.model)));
}

}  // namespace mpitron::plan
