#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"

// Rules on GPUs: recorded graphs, offloaded activations, head sizes and choices of kernels.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result graph_scope(const Facts& f) {
  if (!f.run.training.cuda_graph_warmup_steps ||
      f.values.text("cuda_graph_scope") == "full_iteration") {
    return {};
  }
  return Violation{fmt::format("cuda_graph_scope = {}", f.values.text("cuda_graph_scope")),
                   "--cuda-graph-scope full_iteration"};
}

/// Collects the settings that stand against an option, so that one message names all of them.
class Obstacles {
 public:
  void add(bool there, const char* what) {
    if (there) {
      names_.emplace_back(what);
    }
  }
  Result result(const char* nearest) const {
    return names_.empty() ? Result()
                          : Violation{fmt::format("{}", fmt::join(names_, ", ")), nearest};
  }

 private:
  std::vector<std::string> names_;
};

/// Counts ranks that talk to each other amid the passes.
Index ranks_of_a_model(const ParallelConfig& p) {
  return p.tensor_model_parallel_size * p.pipeline_model_parallel_size * p.context_parallel_size *
         p.expert_model_parallel_size * p.expert_tensor_parallel_size;
}

/// Names settings that change from step to step, or have the host wait for the GPU amid the passes.
Result recorded_step(const Facts& f) {
  if (!f.run.training.cuda_graph_warmup_steps) {
    return {};
  }
  const ModelConfig& m = f.run.model;
  const ParallelConfig& p = f.run.parallel;
  Obstacles obstacles;
  obstacles.add(!m.family().decoder_only, "padded samples");
  if (m.moe) {
    const bool exchanged = p.expert_model_parallel_size * p.expert_tensor_parallel_size > 1;
    obstacles.add(!m.moe->capacity_factor || !m.moe->pad_to_capacity,
                  "experts whose rows differ (--moe-expert-capacity-factor with "
                  "--moe-pad-expert-input-to-capacity fixes them)");
    obstacles.add(exchanged && m.moe->dispatcher == TokenDispatcherType::allgather,
                  "--moe-token-dispatcher-type allgather over several ranks");
  }
  obstacles.add(m.mtp_num_layers.has_value(), "multi-token prediction");
  obstacles.add(
      ranks_of_a_model(p) > 1 && p.distributed_backend == DistributedBackend::mpi,
      "a model over several ranks whose tensors travel through the host (--distributed-backend)");
  obstacles.add(p.overlap_grad_reduce || p.overlap_param_gather, "overlapped reductions");
  obstacles.add(p.overlap_moe_expert_parallel_comm, "overlapped exchanges of experts");
  obstacles.add(p.sharding_strategy > ShardingStrategy::optim, "sharded gradients");
  obstacles.add(f.run.training.cpu_offloading_num_layers > 0, "activations on the host");
  obstacles.add(f.values.integer("timing_log_level") > 1, "timers of passes");
  return obstacles.result("leave --enable-cuda-graph out");
}

Result graph_warmup(const Facts& f) {
  const std::optional<Index>& steps = f.run.training.cuda_graph_warmup_steps;
  if (!steps || *steps >= (ranks_of_a_model(f.run.parallel) > 1 ? 1 : 0)) {
    return {};
  }
  return Violation{fmt::format("cuda_graph_warmup_steps = {}", *steps),
                   "--cuda-graph-warmup-steps 3"};
}

Result gpu_head_size(const Facts& f) {
  constexpr Index kLargest = 256;
  const ModelConfig& m = f.run.model;
  const Index keys =
      m.multi_latent_attention ? m.qk_head_dim + m.qk_pos_emb_head_dim : m.kv_channels;
  const Index values = m.multi_latent_attention ? m.v_head_dim : m.kv_channels;
  if (f.run.training.device != "cuda" || std::max(keys, values) <= kLargest) {
    return {};
  }
  return Violation{fmt::format("{} > {}", std::max(keys, values), kLargest),
                   "more heads (--num-attention-heads) | --device host"};
}

Result offloaded_layers(const Facts& f) {
  const Index layers = f.run.training.cpu_offloading_num_layers;
  if (layers == 0 || (layers > 0 && layers <= f.run.model.num_layers)) {
    return {};
  }
  return Violation{fmt::format("cpu_offloading_num_layers = {}, num_layers = {}", layers,
                               f.run.model.num_layers),
                   fmt::format("--cpu-offloading-num-layers {}", f.run.model.num_layers)};
}

/// Names settings that keep nothing to send away, or keep more than a layer's own activations.
Result offloaded_activations(const Facts& f) {
  if (f.run.training.cpu_offloading_num_layers <= 0) {
    return {};
  }
  Obstacles obstacles;
  obstacles.add(f.run.model.recompute_granularity == RecomputeGranularity::full,
                "--recompute-granularity full");
  obstacles.add(f.run.model.family().encoder_decoder, "an encoder whose output all layers read");
  obstacles.add(f.run.parallel.sharding_strategy == ShardingStrategy::optim_grads_params,
                "sharded parameters");
  obstacles.add(f.run.parallel.overlap_moe_expert_parallel_comm, "overlapped exchanges of experts");
  return obstacles.result("leave --cpu-offloading-num-layers out");
}

/// Asks for a GPU, which alone has several kernels for one thing.
Result tuned_kernels(const Facts& f) {
  const config::TrainingConfig& training = f.run.training;
  if (training.device != "host" && training.device != "reference") {
    return {};
  }
  Obstacles obstacles;
  obstacles.add(training.tuning_file.has_value(), "--tuning-file");
  obstacles.add(training.attention_kernel != "auto", "--attention-kernel");
  obstacles.add(training.matmul_kernel != "auto", "--matmul-kernel");
  return obstacles.result("give --device cuda");
}

}  // namespace

std::span<const Constraint> device_constraints() {
  static constexpr auto kRules = std::to_array<Constraint>({
      {"E180", "graph_scope", "--enable-cuda-graph needs --cuda-graph-scope full_iteration",
       "enable-cuda-graph cuda-graph-scope",
       "Forward and backward of a whole step are recorded; graphs of layers are not there yet.",
       graph_scope},
      {"E181", "recorded_step",
       "--enable-cuda-graph excludes what changes or waits for the host within a step's passes",
       "enable-cuda-graph num-experts moe-expert-capacity-factor moe-pad-expert-input-to-capacity "
       "moe-token-dispatcher-type mtp-num-layers distributed-backend overlap-grad-reduce "
       "overlap-param-gather overlap-moe-expert-parallel-comm data-parallel-sharding-strategy "
       "cpu-offloading-num-layers timing-log-level",
       "A graph repeats what was recorded, to the last number in the arguments of its kernels: "
       "rows of experts without a capacity and waits of the host are of one step.",
       recorded_step},
      {"E205", "gpu_head_size", "head size <= 256 on a GPU",
       "device kv-channels num-attention-heads qk-head-dim qk-pos-emb-head-dim v-head-dim",
       "The attention kernels of GPUs keep whole heads in registers.", gpu_head_size},
      {"E206", "graph_warmup", "cuda_graph_warmup_steps >= 1 over several ranks, else >= 0",
       "cuda-graph-warmup-steps",
       "Ranks connect when they first talk to each other, which cannot be recorded.", graph_warmup},
      {"E207", "offloaded_layers", "0 <= cpu_offloading_num_layers <= num_layers",
       "cpu-offloading-num-layers num-layers", "Layers are counted within each chunk of a stage.",
       offloaded_layers},
      {"E208", "offloaded_activations",
       "--cpu-offloading-num-layers excludes what leaves no activations or shares them",
       "cpu-offloading-num-layers recompute-granularity data-parallel-sharding-strategy "
       "overlap-moe-expert-parallel-comm",
       "What a layer keeps goes to the host while the next one runs, and comes back before its "
       "backward pass: only that layer may need it.",
       offloaded_activations},
      {"E214", "tuned_kernels", "--tuning-file, --attention-kernel and --matmul-kernel need a GPU",
       "tuning-file attention-kernel matmul-kernel device",
       "They choose between several kernels or algorithms; the host has one each.", tuned_kernels},
  });
  return kRules;
}

}  // namespace mpitron::config
