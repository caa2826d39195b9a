#include "models/model.h"

#include "ops/initialize.h"
#include "utils/torch_random.h"

namespace mpitron::models {

using autograd::Parameter;

Model::Model(const config::ModelConfig& config, device::Device& device, Share share,
             Index token_types)
    : config_(config), device_(device), share_(std::move(share)) {
  if (part().has_embedding) {
    embedding_.emplace(builder("embedding."), token_types);
    embedding_->word_embeddings().shared_over_stages =
        !part().has_output && !config_.untie_embeddings_and_output_weights;
  }
}

nn::Builder Model::builder(const std::string& prefix) const {
  return nn::Builder({config_, share_.groups, *share_.parameters}, prefix);
}

ops::TensorParallel Model::tensor_parallel() const {
  return {share_.groups.tensor.get(), share_.groups.sequence_parallel, config_.tp_comm_overlap};
}

void Model::make_output_weight() {
  if (config_.untie_embeddings_and_output_weights) {
    const nn::Builder layer = builder("output_layer.");
    const Index rows = config_.padded_vocab_size;
    output_weight_ =
        &layer.linear_weight("weight", rows, config_.hidden_size, layer.piece(0, rows));
    output_weight_->embedding_or_output = true;
  } else if (embedding_) {
    output_weight_ = &embedding_->word_embeddings();
  } else {
    // The last stage's copy of the first stage's table starts with the same values: same name.
    output_weight_ = &nn::make_word_embeddings(builder("embedding."));
    output_weight_->shared_over_stages = output_weight_->counted_elsewhere = true;
  }
}

void Model::initialize() {
  const auto seed = static_cast<std::uint64_t>(config_.seed);
  std::optional<TorchGenerator> torch;
  if (config_.use_cpu_initialization) {
    torch.emplace(seed);
  }
  for (Parameter& parameter : *share_.parameters) {
    if (torch) {
      ops::initialize_like_torch(device_, parameter, config_.params_dtype, *torch);
    } else {
      ops::initialize(device_, parameter, config_.params_dtype, seed);
    }
  }
}

}  // namespace mpitron::models
