#include "train/model/theoretical_memory.h"

#include <algorithm>

#include <fmt/format.h>

#include "config/global_batch_size.h"
#include "nn/layers/layer_rows.h"
#include "train/model/fp8_state.h"

// Memory by the reference's formula (theoretical_memory_usage.py), whose simplifications are kept
// so that the log's line means the same.

namespace mpitron::train {
namespace {

constexpr double kMegabyte = 1024.0 * 1024.0;

constexpr double kWeight = 2;  // bytes of a parameter in half precision

/// Over how many ranks the state of a parameter is spread.
double state_replicas(const MemoryLayout& layout) {
  return layout.use_distributed_optimizer ? static_cast<double>(layout.data_parallel_size) : 1;
}

/// Returns the bytes of a number in this type, with its share of a block's scale.
double stored_bytes(DType type) {
  const bool scaled = type == DType::f16 || type == DType::u8;
  return static_cast<double>(size_of(type)) + (scaled ? 1.0 / 64 : 0);
}

/// Adds up the costs of all layers, prediction depths aside.
nn::LayerCosts costs_of_layers(const config::ModelConfig& model) {
  nn::LayerCosts costs;
  for (Index number = 1; number <= model.num_layers; ++number) {
    costs += nn::layer_costs(model, config::layer_spec(model, number));
  }
  return costs;
}

}  // namespace

MemoryLayout memory_layout(const config::RunConfig& config) {
  const config::ParallelConfig& p = config.parallel;
  return {.tensor_model_parallel_size = p.tensor_model_parallel_size,
          .pipeline_model_parallel_size = p.pipeline_model_parallel_size,
          .data_parallel_size = p.data_parallel_size,
          .virtual_pipeline_model_parallel_size = p.virtual_pipeline_model_parallel_size,
          .micro_batch_size = config.training.micro_batch_size,
          .use_distributed_optimizer = p.sharding_strategy != config::ShardingStrategy::no_shard};
}

StateBytes state_bytes(const config::OptimizerConfig& config) {
  const config::StateTypes& types = config.state_types;
  const double master = types.masters_below_params ? 2 : stored_bytes(types.main_params);
  return {.gradient = config.main_grad_dtype == DType::bf16 ? 2.0 : 4.0,
          .state = master + stored_bytes(types.exp_avg) + stored_bytes(types.exp_avg_sq),
          .host_fraction = config.offload ? config.offload->fraction : 0};
}

/// Every layer with its two norms, the final norm (2 h), the table of words once or twice. The
/// first stage is the fullest: layers are shared evenly, and it has the table.
ParameterCounts theoretical_parameters(const config::ModelConfig& model,
                                       const MemoryLayout& layout) {
  const auto h = static_cast<double>(model.hidden_size);
  const double one_embedding = h * static_cast<double>(model.padded_vocab_size);
  const bool two = model.untie_embeddings_and_output_weights;
  const auto pp = static_cast<double>(layout.pipeline_model_parallel_size);

  ParameterCounts counts;
  counts.transformer_block = costs_of_layers(model).weights + 2 * h;
  for (Index number = model.all_layers() + 1; number <= model.layers_and_depths(); ++number) {
    counts.mtp_block += nn::layer_costs(model, config::layer_spec(model, number)).weights;
  }
  counts.embedding = one_embedding * (two ? 2 : 1);
  const double first_stage_embedding = one_embedding * (two && pp == 1 ? 2 : 1);
  counts.most_loaded_shard =
      (counts.transformer_block / pp + counts.mtp_block + first_stage_embedding) /
      static_cast<double>(layout.tensor_model_parallel_size);
  return counts;
}

/// 2 bytes of the weight, those of its gradient and, spread over the replicas, of its state.
double weight_and_optimizer_bytes(const config::ModelConfig& model, const MemoryLayout& layout,
                                  const StateBytes& bytes) {
  const double per_parameter =
      kWeight + bytes.gradient + bytes.state * (1 - bytes.host_fraction) / state_replicas(layout);
  return theoretical_parameters(model, layout).most_loaded_shard * per_parameter;
}

/// Counts the host's memory where a share of the parameters is updated by the processor: a copy of
/// them and their state.
double host_optimizer_bytes(const config::ModelConfig& model, const MemoryLayout& layout,
                            const StateBytes& bytes) {
  const double per_parameter =
      (kWeight + bytes.state) * bytes.host_fraction / state_replicas(layout);
  return theoretical_parameters(model, layout).most_loaded_shard * per_parameter;
}

/// A weight in 8 bits and its transpose, one byte each.
double fp8_weight_bytes(const config::ModelConfig& model, const MemoryLayout& layout) {
  const Index layers = model.all_layers();
  Index in_8_bits = 0;
  for (Index layer = 1; layer <= layers; ++layer) {
    in_8_bits += model.fp8->has(layer, layers) ? 1 : 0;
  }
  const ParameterCounts counts = theoretical_parameters(model, layout);
  const double share = static_cast<double>(in_8_bits) / static_cast<double>(layers);
  const auto stages = static_cast<double>(layout.pipeline_model_parallel_size);
  return 2 * (share * counts.transformer_block / stages + counts.mtp_block) /
         static_cast<double>(layout.tensor_model_parallel_size);
}

/// Source: report_theoretical_memory of the reference. Of a pipeline's first stage, which has as
/// many microbatches in flight as there are stages; interleaving adds a part of another one. All of
/// it is cut by the tensor ranks (sequence parallelism).
double activation_bytes(const config::ModelConfig& model, const MemoryLayout& layout,
                        std::optional<Index> num_microbatches) {
  const auto h = static_cast<double>(model.hidden_size);
  const auto pp = static_cast<double>(layout.pipeline_model_parallel_size);
  const double tokens = static_cast<double>(model.seq_length * layout.micro_batch_size);
  double bytes = tokens * costs_of_layers(model).kept_bytes;
  bytes += 8 * tokens * pp;  // token ids in flight, 64 bits each
  bytes += tokens * h * pp;  // dropout of the embedding
  if (layout.virtual_pipeline_model_parallel_size) {
    const auto chunks = static_cast<double>(*layout.virtual_pipeline_model_parallel_size);
    bytes *= 1 + (pp - 1) / (pp * chunks);
  } else if (pp > 1 && num_microbatches) {
    bytes *= std::min(1.0, static_cast<double>(*num_microbatches) / pp);
  }
  if (pp == 1) {
    const double vocab_ratio = static_cast<double>(model.padded_vocab_size) / h;
    bytes += 4 * tokens * h * (1 + vocab_ratio);  // output layer and cross entropy
  }
  return bytes / static_cast<double>(layout.tensor_model_parallel_size);
}

/// Character for character the reference's line, megabytes of 2^20.
std::string theoretical_memory_line(double weight_and_optimizer, std::optional<double> activation) {
  const std::string start =
      fmt::format("Theoretical memory footprints: weight and optimizer={:.2f} MB",
                  weight_and_optimizer / kMegabyte);
  if (!activation) {
    return start;
  }
  return fmt::format("{}, activation={:.2f} MB, total={:.2f} MB", start, *activation / kMegabyte,
                     (weight_and_optimizer + *activation) / kMegabyte);
}

TheoreticalMemory theoretical_memory(const config::RunConfig& run) {
  const config::ModelConfig& model = run.model;
  const MemoryLayout layout = memory_layout(run);
  const StateBytes bytes = state_bytes(run.optimizer);
  const Index microbatches =
      config::num_microbatches(run.training, run.parallel.data_parallel_size);
  return {.weight_and_optimizer = weight_and_optimizer_bytes(model, layout, bytes),
          .activation = activation_bytes(model, layout, microbatches),
          .host_optimizer = host_optimizer_bytes(model, layout, bytes),
          .fp8_weights = keeps_fp8_weights(run) ? fp8_weight_bytes(model, layout) : 0};
}

/// The reference tells activations only where its formula holds.
std::string theoretical_memory_line(const config::RunConfig& run) {
  const TheoreticalMemory memory = theoretical_memory(run);
  const bool as_in_formula =
      run.parallel.sequence_parallel &&
      run.model.recompute_granularity == config::RecomputeGranularity::selective;
  return theoretical_memory_line(memory.weight_and_optimizer,
                                 as_in_formula ? std::optional(memory.activation) : std::nullopt);
}

}  // namespace mpitron::train
