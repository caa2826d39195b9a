#include "config/resolve/derive.h"
#include "config/resolve/resolve.h"

// Options on the layout over ranks as a ParallelConfig.

namespace mpitron::config {
namespace {

/// Finds the chunks of a rank by a number of layers, a number of stages or the bars of a pattern; a
/// rule allows one of them.
void resolve_pipeline(ParallelConfig& p, const OptionValues& v) {
  const Index stages = p.pipeline_model_parallel_size;
  p.decoder_first_pipeline_num_layers = v.maybe_integer("decoder_first_pipeline_num_layers");
  p.decoder_last_pipeline_num_layers = v.maybe_integer("decoder_last_pipeline_num_layers");
  p.pipeline_model_parallel_layout = v.maybe_text("pipeline_model_parallel_layout");
  p.account_for_embedding_in_pipeline_split = v.flag("account_for_embedding_in_pipeline_split");
  p.account_for_loss_in_pipeline_split = v.flag("account_for_loss_in_pipeline_split");
  p.virtual_pipeline_model_parallel_size = v.maybe_integer("num_virtual_stages_per_pipeline_rank");
  p.num_layers_per_virtual_pipeline_stage =
      v.maybe_integer("num_layers_per_virtual_pipeline_stage");
  const Index per_chunk = p.num_layers_per_virtual_pipeline_stage.value_or(0);
  if (per_chunk > 0 && stages > 0) {
    const Index blocks = v.maybe_integer("num_layers").value_or(0) +
                         p.account_for_embedding_in_pipeline_split +
                         p.account_for_loss_in_pipeline_split;
    p.virtual_pipeline_model_parallel_size = blocks / stages / per_chunk;
  }
  p.pattern_segments = stages > 1 ? given_pattern(v).segments : std::vector<Index>();
  if (const auto segments = static_cast<Index>(p.pattern_segments.size()); segments > stages) {
    p.virtual_pipeline_model_parallel_size = segments / stages;
  }
  p.microbatch_group_size_per_vp_stage = v.integer("microbatch_group_size_per_vp_stage");
  p.overlap_p2p_comm =
      (p.virtual_pipeline_model_parallel_size || p.pipeline_model_parallel_layout) &&
      v.flag("overlap_p2p_comm");
  p.pipeline_schedule =
      pick<PipelineSchedule>(v.maybe_text("pipeline_schedule").value_or(""),
                             {{"", PipelineSchedule::automatic},
                              {"1f1b", PipelineSchedule::one_forward_one_backward},
                              {"interleaved", PipelineSchedule::interleaved},
                              {"zero-bubble", PipelineSchedule::zero_bubble}});
  if (v.flag("defer_embedding_wgrad_compute")) {
    p.deferred_embedding_wgrads =
        static_cast<std::size_t>(std::max<Index>(v.integer("wgrad_deferral_limit"), 0));
  }
}

/// Takes the distributed optimizer as the sharding of optimizer state; FSDP's strategies are named
/// by its own option.
ShardingStrategy resolve_sharding(const OptionValues& v) {
  using enum ShardingStrategy;
  if (v.flag("use_megatron_fsdp")) {
    return pick<ShardingStrategy>(v.text("data_parallel_sharding_strategy"),
                                  {{"no_shard", no_shard},
                                   {"optim", optim},
                                   {"optim_grads", optim_grads},
                                   {"optim_grads_params", optim_grads_params}});
  }
  return v.flag("use_distributed_optimizer") ? optim : no_shard;
}

}  // namespace

/// Copies sizes as given: rules say which divide which.
ParallelConfig resolve_parallel(const OptionValues& v) {
  ParallelConfig p;
  p.world_size = v.integer("world_size");
  p.data_parallel_size = data_parallel_size(v);
  p.tensor_model_parallel_size = v.integer("tensor_model_parallel_size");
  p.pipeline_model_parallel_size = v.integer("pipeline_model_parallel_size");
  p.context_parallel_size = v.integer("context_parallel_size");
  p.expert_model_parallel_size = v.integer("expert_model_parallel_size");
  p.expert_tensor_parallel_size = v.integer("expert_tensor_parallel_size");
  p.sequence_parallel = v.flag("sequence_parallel");
  p.use_tp_pp_dp_mapping = v.flag("use_tp_pp_dp_mapping");
  p.distributed_backend =
      pick<DistributedBackend>(v.text("distributed_backend"), {{"nccl", DistributedBackend::nccl},
                                                               {"mpi", DistributedBackend::mpi},
                                                               {"gloo", DistributedBackend::mpi}});
  p.high_priority_stream_groups = v.words("high_priority_stream_groups");
  p.nccl_communicator_config_path = v.maybe_text("nccl_communicator_config_path");
  if (v.flag("use_sharp")) {
    p.sharp_enabled_group = v.maybe_text("sharp_enabled_group").value_or("dp");
  }
  p.nccl_ub = v.flag("nccl_ub");
  p.distributed_timeout_minutes = v.real("distributed_timeout_minutes");
  p.overlap_moe_expert_parallel_comm = v.flag("overlap_moe_expert_parallel_comm");
  p.delay_wgrad_compute = v.flag("delay_wgrad_compute");
  resolve_pipeline(p, v);
  p.use_distributed_optimizer = v.flag("use_distributed_optimizer");
  p.num_distributed_optimizer_instances = v.integer("num_distributed_optimizer_instances");
  p.full_sharding_in_hsdp = v.flag("enable_full_sharding_in_hsdp");
  p.overlap_grad_reduce = v.flag("overlap_grad_reduce");
  p.overlap_param_gather = v.flag("overlap_param_gather");
  p.overlap_param_gather_with_optimizer_step = v.flag("overlap_param_gather_with_optimizer_step");
  p.ddp_bucket_size = v.maybe_integer("ddp_bucket_size");
  p.ddp_num_buckets = v.maybe_integer("ddp_num_buckets");
  p.ddp_pad_buckets_for_high_nccl_busbw = v.flag("ddp_pad_buckets_for_high_nccl_busbw");
  p.suggested_communication_unit_size = v.maybe_integer("suggested_communication_unit_size");
  p.fsdp_double_buffer = v.flag("fsdp_double_buffer");
  p.sharding_strategy = resolve_sharding(v);
  p.cp_comm_type = v.words("cp_comm_type");
  p.hierarchical_context_parallel_sizes = v.integers("hierarchical_context_parallel_sizes");
  return p;
}

}  // namespace mpitron::config
