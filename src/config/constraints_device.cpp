#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/constraint.h"

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

/// What changes from step to step, waits for the GPU or talks to other ranks amid the passes.
Result recorded_step(const Facts& f) {
  if (!f.run.training.cuda_graph_warmup_steps) {
    return {};
  }
  const ModelConfig& m = f.run.model;
  const ParallelConfig& p = f.run.parallel;
  std::vector<std::string> obstacles;
  const auto obstacle = [&](bool there, const char* what) {
    if (there) {
      obstacles.emplace_back(what);
    }
  };
  obstacle(m.hidden_dropout > 0 || m.attention_dropout > 0, "dropout");
  obstacle(m.kind != ModelKind::gpt, "padded samples");
  obstacle(m.moe.has_value(), "experts");
  obstacle(m.mtp_num_layers.has_value(), "multi-token prediction");
  obstacle(
      p.tensor_model_parallel_size * p.pipeline_model_parallel_size * p.context_parallel_size > 1,
      "a model over several ranks");
  obstacle(p.overlap_grad_reduce || p.overlap_param_gather, "overlapped communication");
  obstacle(p.sharding_strategy > ShardingStrategy::optim, "sharded gradients");
  obstacle(f.values.integer("timing_log_level") > 1, "timers of passes");
  return obstacles.empty() ? Result()
                           : Violation{fmt::format("{}", fmt::join(obstacles, ", ")),
                                       "leave --enable-cuda-graph out"};
}

/// Only `auto` has a choice.
Result tuned_kernels(const Facts& f) {
  if (!f.run.training.tuning_file || f.run.model.attention_backend == AttentionBackend::automatic) {
    return {};
  }
  return Violation{fmt::format("attention_backend = {}", f.values.text("attention_backend")),
                   "--attention-backend auto"};
}

}  // namespace

std::span<const Constraint> device_constraints() {
  static constexpr auto kRules = std::to_array<Constraint>({
      {"E180", "graph_scope", "--enable-cuda-graph needs --cuda-graph-scope full_iteration",
       "enable-cuda-graph cuda-graph-scope",
       "Forward and backward of a whole step are recorded; graphs of layers are not there yet.",
       graph_scope},
      {"E181", "recorded_step",
       "--enable-cuda-graph excludes what changes, waits or communicates within a step's passes",
       "enable-cuda-graph hidden-dropout attention-dropout num-experts mtp-num-layers "
       "tensor-model-parallel-size pipeline-model-parallel-size context-parallel-size "
       "overlap-grad-reduce overlap-param-gather data-parallel-sharding-strategy timing-log-level",
       "A graph repeats what was recorded, to the last number in the arguments of its kernels: "
       "masks of dropout, tokens of experts and waiting ranks are of one step.",
       recorded_step},
      {"E200", "tuned_kernels", "--tuning-file needs --attention-backend auto",
       "tuning-file attention-backend",
       "The file says which kernel was fastest; other backends name the kernel themselves.",
       tuned_kernels},
  });
  return kRules;
}

}  // namespace mpitron::config
