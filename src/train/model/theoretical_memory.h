#pragma once
#include <optional>
#include <string>

#include "config/run_config.h"

namespace mpitron::train {

/// The layout as far as the memory formula looks at it; names of the reference's options.
struct MemoryLayout {
  Index tensor_model_parallel_size = 1;
  Index pipeline_model_parallel_size = 1;
  Index data_parallel_size = 1;
  std::optional<Index> virtual_pipeline_model_parallel_size = std::nullopt;
  Index micro_batch_size = 1;
  bool use_distributed_optimizer = false;
};

MemoryLayout memory_layout(const config::RunConfig& config);

/// Bytes that a parameter's gradient and optimizer state take: the reference's formula has fp32.
struct StateBytes {
  double gradient = 4;
  double state = 12;         // master and both moments, or what is stored for them
  double host_fraction = 0;  // of the state, in the host's memory
};
/// Returns the bytes of state of a parameter, with the types of --use-precision-aware-optimizer and
/// the share of --optimizer-cpu-offload.
StateBytes state_bytes(const config::OptimizerConfig& config);

struct ParameterCounts {
  double transformer_block = 0;  // all layers and the final norm
  double mtp_block = 0;          // prediction layers
  double embedding = 0;          // with the output matrix when untied
  double most_loaded_shard = 0;  // rank of the first pipeline stage
  double total() const { return transformer_block + mtp_block + embedding; }
};

/// Parameters by the reference's formula (biases beside those of the norms are left out), of layers
/// by letters what each letter has.
ParameterCounts theoretical_parameters(const config::ModelConfig& model,
                                       const MemoryLayout& layout);

/// Bytes of weights, gradients and Adam state on the most loaded rank: 18 per parameter, with the
/// distributed optimizer 6 + 12 / data_parallel_size; less with `bytes` of narrower types, and
/// without what lies in the host's memory.
double weight_and_optimizer_bytes(const config::ModelConfig& model, const MemoryLayout& layout,
                                  const StateBytes& bytes = {});
/// Returns the part of this that lies in the host's memory, with a copy of the parameters there.
double host_optimizer_bytes(const config::ModelConfig& model, const MemoryLayout& layout,
                            const StateBytes& bytes);

/// Bytes of the numbers of 8 bits that are kept beside the weights of the layers that multiply in 8
/// bits (train/model/fp8_state.h), as if the stages had equally many of these.
double fp8_weight_bytes(const config::ModelConfig& model, const MemoryLayout& layout);

/// Bytes of activations on the first pipeline stage, for sequence parallelism with selective
/// recompute (arXiv:2205.05198); `num_microbatches` none: enough to fill the pipeline.
double activation_bytes(const config::ModelConfig& model, const MemoryLayout& layout,
                        std::optional<Index> num_microbatches);

/// All of these for a run whose vocabulary is known, bytes.
struct TheoreticalMemory {
  double weight_and_optimizer = 0;
  double activation = 0;
  double host_optimizer = 0;
  double fp8_weights = 0;
};
TheoreticalMemory theoretical_memory(const config::RunConfig& run);

/// The line the reference prints once; activations only where the formula holds.
std::string theoretical_memory_line(double weight_and_optimizer, std::optional<double> activation);
/// Formats the reference's line for a run whose vocabulary is known.
std::string theoretical_memory_line(const config::RunConfig& run);

}  // namespace mpitron::train
