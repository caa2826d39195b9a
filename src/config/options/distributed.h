#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on the layout over ranks and on what travels between them, the group `distributed` of
// Megatron's arguments.py. Switches of overlap and buckets are neutral where the order of sums does
// not depend on them.
inline constexpr std::array kDistributed = {
    integer("tensor-model-parallel-size", "1", works, "ranks that share each layer's matrices"),
    integer("pipeline-model-parallel-size", "1", works, "ranks that share the layers"),
    integer("decoder-first-pipeline-num-layers", none, works, "layers of the first pipeline stage"),
    integer("decoder-last-pipeline-num-layers", none, works, "layers of the last pipeline stage"),
    text("pipeline-model-parallel-layout", none, works,
         "which layers each stage holds, as in Et*3|(tt|)*29,m|L"),
    integer("model-parallel-size", none, removed, "removed").use("--tensor-model-parallel-size"),
    integer("num-layers-per-virtual-pipeline-stage", none, works,
            "layers per chunk of the interleaved schedule"),
    integer("num-virtual-stages-per-pipeline-rank", none, works,
            "chunks per rank of the interleaved schedule"),
    integer("microbatch-group-size-per-virtual-pipeline-stage", none, works,
            "micro batches a chunk runs before the next chunk's turn")
        .stored_as("microbatch_group_size_per_vp_stage"),
    flag_off("no-overlap-p2p-communication", "overlap_p2p_comm", neutral,
             "pipeline messages block"),
    flag("overlap-p2p-communication-warmup-flush", later,
         "overlap pipeline messages in warm-up and flush too")
        .stored_as("overlap_p2p_comm_warmup_flush"),
    text("distributed-backend", "nccl", works,
         "how tensors of GPUs travel: nccl, or through the host (mpi, gloo)")
        .choose("nccl gloo mpi"),
    real("distributed-timeout-minutes", "10", neutral,
         "minutes until a hanging collective ends the run"),
    flag("overlap-grad-reduce", neutral, "reduce gradients while backward still runs"),
    flag("defer-embedding-wgrad-compute", works,
         "compute the output matrix's gradient in the pipeline flush"),
    integer("wgrad-deferral-limit", "0", works,
            "micro batches for which that gradient is deferred; 0: all"),
    flag_off("no-align-grad-reduce", "align_grad_reduce", neutral,
             "pipeline stages start reductions on their own")
        .also("no-delay-grad-reduce"),
    integer("ddp-num-buckets", none, neutral, "number of gradient buckets"),
    integer("ddp-bucket-size", none, neutral, "elements per gradient bucket"),
    flag("ddp-pad-buckets-for-high-nccl-busbw", neutral, "round bucket sizes up for bandwidth"),
    flag("ddp-average-in-collective", neutral,
         "no effect: the loss is divided by the replicas, so their sum is the average"),
    flag("overlap-param-gather", works, "gather updated parameters while forward runs"),
    flag("overlap-param-gather-with-optimizer-step", works, "the same during the optimizer step"),
    flag_off("no-align-param-gather", "align_param_gather", neutral,
             "pipeline stages gather parameters on their own"),
    flag_off("no-scatter-gather-tensors-in-pipeline", "scatter_gather_tensors_in_pipeline", neutral,
             "do not split pipeline messages over tensor ranks"),
    flag("use-ring-exchange-p2p", refused, "needs a private build of another framework"),
    integer("local-rank", "0", unneeded, "set by the launcher of another framework"),
    value("lazy-mpu-init", Type::boolean, none, refused, "hook for an external process manager"),
    flag("account-for-embedding-in-pipeline-split", works,
         "count the embedding as a layer when splitting"),
    flag("account-for-loss-in-pipeline-split", works, "count the loss as a layer when splitting"),
    flag("use-distributed-optimizer", works, "share optimizer state among replicas (ZeRO-1)"),
    flag("use-nccl-ub", works, "NCCL knows the buffers of gradients and parameters in advance")
        .stored_as("nccl_ub"),
    flag("use-sharp", works, "sums of gradients may run inside the network switches"),
    text("sharp-enabled-group", none, works,
         "with --use-sharp: between all replicas, or between instances of the optimizer")
        .choose("dp dp_replica"),
    flag("use-megatron-fsdp", works, "shard parameters, gradients and optimizer state"),
    flag("init-model-with-meta-device", later, "create parameters already sharded"),
    text("data-parallel-sharding-strategy", "no_shard", works,
         "what replicas share: nothing, optimizer state, gradients, parameters")
        .choose("no_shard optim optim_grads optim_grads_params"),
    flag_off("no-gradient-reduce-div-fusion", "gradient_reduce_div_fusion", neutral,
             "no effect: there is no division beside the collective"),
    flag("fsdp-double-buffer", neutral, "keep two buffers for gathered layers between their uses"),
    integer("suggested-communication-unit-size", none, neutral,
            "gather sharded layers ahead until this many elements are whole"),
    flag("keep-fp8-transpose-cache", neutral, "keep transposed fp8 weights"),
    flag("enable-full-sharding-in-hsdp", works,
         "shard optimizer state over the outer replicas too"),
    integer("num-distributed-optimizer-instances", "1", works,
            "groups of replicas with a complete optimizer state each"),
    flag("use-torch-fsdp2", refused, "sharding wrapper of another framework")
        .use("--use-distributed-optimizer"),
    flag_off("torch-fsdp2-no-reshard-after-forward", "torch_fsdp2_reshard_after_forward", refused,
             "sharding wrapper of another framework")
        .use("--use-distributed-optimizer"),
    integer("context-parallel-size", "1", works, "ranks that share each sequence"),
    text("cp-comm-type", "p2p", works,
         "how attention travels over those ranks, for all or per layer")
        .list(),
    integer("hierarchical-context-parallel-sizes", none, works,
            "sizes of the inner and outer context-parallel groups")
        .list(),
    text("nccl-communicator-config-path", none, works, "file with NCCL settings per group"),
    flag("use-tp-pp-dp-mapping", neutral, "neighbouring ranks form pipelines before replicas"),
    flag("replication", works, "keep copies of local checkpoints on other nodes"),
    integer("replication-jump", none, works,
            "distance between ranks that hold copies of each other"),
    integer("replication-factor", "2", works, "copies of a local checkpoint, with the first"),
};

}  // namespace mpitron::config::rows
