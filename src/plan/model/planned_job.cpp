#include "plan/model/planned_job.h"

namespace mpitron::plan {
namespace {

Precision precision_of(const config::ModelConfig& model) {
  if (!model.fp8) {
    return Precision::bf16;
  }
  return model.fp8->recipe == config::Fp8Recipe::mxfp8 ? Precision::mxfp8 : Precision::fp8;
}

Index padded_vocabulary(const config::RunConfig& run) {
  if (run.model.padded_vocab_size > 0) {
    return run.model.padded_vocab_size;
  }
  const Index unit =
      run.model.make_vocab_size_divisible_by * run.parallel.tensor_model_parallel_size;
  const Index rows = run.data.vocab_size.value_or(0);
  return (rows + unit - 1) / unit * unit;
}

ModelShape shape_of(const config::RunConfig& run) {
  const config::ModelConfig& m = run.model;
  ModelShape shape{.layers = m.all_layers(),
                   .hidden = m.hidden_size,
                   .ffn = m.ffn_hidden_size,
                   .heads = m.num_attention_heads,
                   .kv_heads = m.num_query_groups,
                   .head_dim = m.kv_channels,
                   .gated = m.gated_linear_unit,
                   .vocab = padded_vocabulary(run),
                   .tied = !m.untie_embeddings_and_output_weights,
                   .latent_attention = m.multi_latent_attention};
  if (m.moe) {
    shape.experts = m.moe->num_experts;
    shape.top_k = m.moe->topk;
    shape.moe_ffn = m.moe->ffn_hidden_size;
    shape.shared_ffn = m.moe->shared_expert_intermediate_size;
    shape.dense_layers = m.all_layers() - m.moe->count_layers();
  }
  return shape;
}

Sharding sharding_of(config::ShardingStrategy strategy) {
  switch (strategy) {
    case config::ShardingStrategy::no_shard:
      return Sharding::none;
    case config::ShardingStrategy::optim:
      return Sharding::optimizer;
    case config::ShardingStrategy::optim_grads:
      return Sharding::gradients;
    case config::ShardingStrategy::optim_grads_params:
      return Sharding::full;
  }
  return Sharding::none;
}

void set_recompute(const config::ModelConfig& model, Layout& layout) {
  if (model.recompute_granularity == config::RecomputeGranularity::selective) {
    layout.recompute = Recompute::selective;
  } else if (model.recompute_granularity == config::RecomputeGranularity::full) {
    const double of_a_stage = static_cast<double>(model.all_layers()) / layout.pipeline;
    layout.recompute = Recompute::full;
    layout.recomputed = model.recompute_method == config::RecomputeMethod::block
                            ? std::min(1.0, model.recompute_num_layers * layout.chunks / of_a_stage)
                            : 1;
  }
}

}  // namespace

Job job_of(const config::RunConfig& run) {
  const config::ParallelConfig& p = run.parallel;
  Job job{.model = shape_of(run),
          .layout = {.gpus = p.world_size,
                     .tensor = p.tensor_model_parallel_size,
                     .pipeline = p.pipeline_model_parallel_size,
                     .chunks = p.virtual_pipeline_model_parallel_size.value_or(1),
                     .context = p.context_parallel_size,
                     .expert = p.expert_model_parallel_size,
                     .sequence_parallel = p.sequence_parallel,
                     .micro_batch = run.training.micro_batch_size,
                     .sharding = sharding_of(p.sharding_strategy)},
          .precision = precision_of(run.model),
          .sequence = run.model.seq_length,
          .global_batch = run.training.global_batch_size,
          .gradient_bytes = run.optimizer.main_grad_dtype == DType::bf16 ? 2.0 : 4.0};
  set_recompute(run.model, job.layout);
  return job;
}

}  // namespace mpitron::plan
