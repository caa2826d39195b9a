#pragma once
#include <memory>
#include <optional>
#include <string>

#include "config/run_config.h"
#include "pipeline/stage_layout.h"
#include "plan/model/model_work.h"

namespace mpitron::plan {

enum class Precision { bf16, fp8, mxfp8, nvfp4 };  // of the products; 16 bits: bf16 or fp16

/// Kernels of a step that are launched as CUDA graphs.
enum class Graphs { none, router, attention_and_router, whole };

/// What other programs do in a step and no option of this program expresses.
struct Practice {
  std::optional<Precision> precision;  // unset: that of the options
  std::optional<double> data_overlap;  // in place of the software's usual
  double recomputed_products = 0;      // share of a layer's forward pass that runs again
  Graphs graphs = Graphs::none;
  bool fused_activation = true;  // of experts: one kernel
  bool fused_dispatch = false;   // tokens are permuted by the kernels that send them
  bool bounded_experts = false;  // capacities: no count of tokens is waited for
  double offloaded = 0;          // share of the layers whose activations wait in the host's memory
};

/// A step to predict: a run as training reads it, beside what other software does. Sizes are
/// doubles because formulas are made of them.
struct Job {
  config::RunConfig run;
  Practice practice = {};
  std::shared_ptr<const ModelWork> work;  // of run.model

  double ranks() const { return real(run.parallel.world_size); }
  double tensor() const { return real(run.parallel.tensor_model_parallel_size); }
  double context() const { return real(run.parallel.context_parallel_size); }
  double stages() const { return real(run.parallel.pipeline_model_parallel_size); }
  double chunks() const {
    return real(run.parallel.virtual_pipeline_model_parallel_size.value_or(1));
  }
  double data() const { return real(run.parallel.data_parallel_size); }
  double expert() const { return real(run.parallel.expert_model_parallel_size); }
  double expert_tensor() const;
  /// Replicas of an expert.
  double expert_data() const { return ranks() / (stages() * expert() * expert_tensor()); }
  /// Ranks among which activations between attention and MLP are cut.
  double along() const { return run.parallel.sequence_parallel ? tensor() : 1; }
  double sequence() const { return real(run.model.seq_length); }
  double hidden() const { return real(run.model.hidden_size); }
  double vocabulary() const { return real(run.model.padded_vocab_size); }
  double micro_batch() const { return real(run.training.micro_batch_size); }
  double global_batch() const { return real(run.training.global_batch_size); }
  /// Tokens of a rank's microbatch.
  double tokens() const { return sequence() * micro_batch() / context(); }
  double microbatches() const;
  /// Experts of a layer, and how many of them a token visits.
  double experts() const { return run.model.moe ? real(run.model.moe->num_experts) : 0; }
  double visits() const { return run.model.moe ? real(run.model.moe->topk) : 0; }
  bool tied() const { return !run.model.untie_embeddings_and_output_weights; }
  double gradient_bytes() const { return real(size_of(run.optimizer.main_grad_dtype)); }
  /// Precision of the products: the one of the practice, else that of the options.
  Precision precision() const;
  /// Returns whether gradients, and perhaps weights, travel layer by layer within the passes.
  bool sharded_by_layer() const {
    return run.parallel.sharding_strategy >= config::ShardingStrategy::optim_grads;
  }
  /// Embedding and output matrix of all ranks.
  double embedding_weights() const { return (tied() ? 1 : 2) * vocabulary() * hidden(); }
  double weights() const { return work->weights() + embedding_weights(); }
  double active_weights() const { return work->active_weights() + embedding_weights(); }

  template <class T>
  static double real(T value) {
    return static_cast<double>(value);
  }
};

/// Returns `run` with the vocabulary that its options tell, where the tokenizer's rows are not
/// known yet.
config::RunConfig with_vocabulary(config::RunConfig run);

/// Returns `run` as a job to predict. Error(usage) for models that are no stacks of decoder or
/// encoder layers.
Job make_job(config::RunConfig run, Practice practice = {});

/// Returns which layers live where, as training has it.
pipeline::StageLayout stage_layout(const Job& job);

const char* to_string(Precision precision);

}  // namespace mpitron::plan
