#pragma once
#include "config/run_config.h"
#include "data/loading/masked_lm_loader.h"
#include "tokenizers/core/tokenizer.h"
#include "train/batches/microbatch.h"

namespace mpitron::train {

/// What BERT's or T5's samples need of a tokenizer; Error(usage) where it lacks a special token or,
/// for T5, sentinels.
data::MaskedLmVocabulary masked_lm_vocabulary(const config::RunConfig& config,
                                              const tokenizers::Tokenizer& tokenizer);

/// How the samples of a run are made; nothing for GPT.
std::optional<data::MaskedLmRequest> masked_lm_request(const config::RunConfig& config,
                                                       const tokenizers::Tokenizer& tokenizer);
data::MaskedLmLayout masked_lm_layout(const config::ModelConfig& model);

/// A batch as the trainer takes it; it must live as long.
HostMicrobatch microbatch_of(const data::MaskedLmBatch& batch, Index length, Index first_sample);

}  // namespace mpitron::train
