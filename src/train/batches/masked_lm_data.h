#pragma once
#include "config/run_config.h"
#include "data/loading/masked_lm_loader.h"
#include "tokenizers/core/tokenizer.h"
#include "train/batches/sample_source.h"

namespace mpitron::train {

/// What BERT's or T5's samples need of a tokenizer; Error(usage) where it lacks a special token or,
/// for T5, sentinels.
data::MaskedLmVocabulary masked_lm_vocabulary(const config::RunConfig& config,
                                              const tokenizers::Tokenizer& tokenizer);

/// How the samples of a run are made; nothing where they are not padded.
std::optional<data::MaskedLmRequest> masked_lm_request(const config::RunConfig& config,
                                                       const tokenizers::Tokenizer& tokenizer);

/// Samples of BERT or T5; `length`: the encoder's. A batch must live as long as what is made of it.
models::HostMicrobatch microbatch_of(const data::MaskedLmBatch& batch, Index length);
std::unique_ptr<SampleSource> masked_lm_source(const SourceRequest& request);

}  // namespace mpitron::train
