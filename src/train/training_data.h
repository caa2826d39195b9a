#pragma once
#include <memory>
#include <optional>

#include "config/run_config.h"
#include "data/batch_loader.h"
#include "data/gpt_data.h"
#include "data/tokenizer.h"
#include "train/microbatch.h"

namespace mpitron::train {

/// The rows of the embedding: the tokenizer's vocabulary padded, or `--padded-vocab-size`;
/// Error(usage) where that is too small.
Index padded_vocab_size(const config::RunConfig& config, Index vocab_size);

/// Tokenizer and data sets of a run.
struct TrainingData {
  std::unique_ptr<data::Tokenizer> tokenizer;
  data::GptData sets;
};

std::unique_ptr<data::Tokenizer> make_run_tokenizer(const config::DataConfig& config);
/// Opens the corpora and builds or loads the indices for the samples that the run will consume.
TrainingData make_training_data(const config::RunConfig& config);

/// Microbatches of one split, in the order of the run: its position is the number of consumed
/// samples.
class MicrobatchStream {
 public:
  MicrobatchStream(std::shared_ptr<const data::Dataset> dataset, const config::RunConfig& config,
                   const data::Tokenizer& tokenizer, Index consumed_samples);
  /// Valid until the next call; Error(data) at the end of the data.
  HostMicrobatch next();

 private:
  data::BatchLoader loader_;
  Index consumed_;
  bool with_mask_;
};

}  // namespace mpitron::train
