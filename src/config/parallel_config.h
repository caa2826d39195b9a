#pragma once
#include <optional>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// The way of a GPU's tensors between ranks: from GPU to GPU, or through the host's memory.
enum class DistributedBackend { nccl, mpi };
/// The state that replicas hold in parts: none, optimizer state, gradients too, parameters too.
enum class ShardingStrategy { no_shard, optim, optim_grads, optim_grads_params };

/// The order of a pipeline stage's passes; `automatic`: what the number of chunks asks for.
enum class PipelineSchedule { automatic, one_forward_one_backward, interleaved, zero_bubble };

/// How layers are dealt out to the stages, and in which order a stage runs its passes.
struct PipelineConfig {
  std::optional<Index> num_layers_per_virtual_pipeline_stage;  // as given
  std::optional<Index> decoder_first_pipeline_num_layers;
  std::optional<Index> decoder_last_pipeline_num_layers;
  std::optional<std::string> pipeline_model_parallel_layout;
  /// Layers of each virtual stage, by the bars of a hybrid model's pattern; empty without bars, and
  /// with one stage, which they do not cut.
  std::vector<Index> pattern_segments;
  bool account_for_embedding_in_pipeline_split = false;
  bool account_for_loss_in_pipeline_split = false;
  Index microbatch_group_size_per_vp_stage = 1;  // derived: = pipeline_model_parallel_size
  bool overlap_p2p_comm = false;                 // derived: only with interleaving
  PipelineSchedule pipeline_schedule = PipelineSchedule::automatic;
  /// derived: --wgrad-deferral-limit with --defer-embedding-wgrad-compute; 0: no limit
  std::optional<std::size_t> deferred_embedding_wgrads;
};

/// Sharding among replicas, and when gradients and parameters travel between them.
struct DataParallelConfig {
  bool use_distributed_optimizer = false;
  Index num_distributed_optimizer_instances = 1;
  bool overlap_grad_reduce = false;
  bool overlap_param_gather = false;
  bool overlap_param_gather_with_optimizer_step = false;
  std::optional<Index> ddp_bucket_size;
  std::optional<Index> ddp_num_buckets;
  bool ddp_pad_buckets_for_high_nccl_busbw = false;
  bool nccl_ub = false;  // buffers of gradients and parameters are registered with NCCL
  bool full_sharding_in_hsdp = false;
  std::optional<Index> suggested_communication_unit_size;
  bool fsdp_double_buffer = false;
  // derived: that of --data-parallel-sharding-strategy with --use-megatron-fsdp, else optim with
  // the distributed optimizer
  ShardingStrategy sharding_strategy = ShardingStrategy::no_shard;
};

/// Libraries and settings that carry the bytes of a group.
struct TransportConfig {
  DistributedBackend distributed_backend = DistributedBackend::nccl;
  std::vector<std::string> high_priority_stream_groups;
  std::optional<std::string> nccl_communicator_config_path;
  std::optional<std::string> sharp_enabled_group;  // derived: dp with --use-sharp alone
  double distributed_timeout_minutes = 10;
};

/// How the ranks are laid out and how gradients travel. World = tp * cp * dp * pp ranks.
struct ParallelConfig : PipelineConfig, DataParallelConfig, TransportConfig {
  Index world_size = 1;
  Index data_parallel_size = 1;  // derived: world / (tp * pp * cp)
  Index tensor_model_parallel_size = 1;
  Index pipeline_model_parallel_size = 1;
  std::optional<Index> virtual_pipeline_model_parallel_size;  // derived: chunks per pipeline rank
  Index context_parallel_size = 1;
  Index expert_model_parallel_size = 1;
  Index expert_tensor_parallel_size = 0;  // derived; 0: = tensor_model_parallel_size
  /// Norms and dropout between the products work on a piece of the sequence for each tensor rank.
  bool sequence_parallel = false;  // derived: off with one tensor rank
  bool use_tp_pp_dp_mapping = false;

  // experts: tokens of one microbatch travel behind another one's passes
  bool overlap_moe_expert_parallel_comm = false;
  bool delay_wgrad_compute = false;  // and behind weight gradients

  /// How context ranks exchange what attention needs: one word for all layers, or one for each.
  std::vector<std::string> cp_comm_type = {"p2p"};
  /// Levels of context ranks, the inner one first; they multiply to all of them. Empty: one level.
  std::vector<Index> hierarchical_context_parallel_sizes;
};

}  // namespace mpitron::config
