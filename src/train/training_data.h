#pragma once
#include <memory>
#include <optional>

#include "config/run_config.h"
#include "data/batch_loader.h"
#include "data/gpt_data.h"
#include "tokenizers/tokenizer.h"
#include "train/masked_lm_data.h"
#include "train/microbatch.h"

namespace mpitron::train {

/// The rows of the embedding: the tokenizer's vocabulary padded, or `--padded-vocab-size`;
/// Error(usage) where that is too small.
Index padded_vocab_size(const config::RunConfig& config, Index vocab_size);

/// Tokenizer and data sets of a run.
struct TrainingData {
  std::unique_ptr<tokenizers::Tokenizer> tokenizer;
  data::GptData sets;
};

std::unique_ptr<tokenizers::Tokenizer> make_run_tokenizer(const config::DataConfig& config);
/// Everything that decides which samples a run sees.
data::GptDataRequest make_data_request(const config::RunConfig& config,
                                       const tokenizers::Tokenizer& tokenizer);
/// Opens the corpora and builds or loads the indices for the samples that the run will consume.
TrainingData make_training_data(const config::RunConfig& config);

/// Which of a split's microbatches a rank gets, and whether it reads them or only counts.
struct StreamShare {
  Index data_parallel_rank = 0;
  Index data_parallel_size = 1;
  bool reads = true;
  /// > 0: every sample once, in order, then samples without loss up to this many.
  Index padded_samples = 0;
};

/// Microbatches of one split, in the order of the run: its position is the number of samples that
/// all ranks together have consumed.
class MicrobatchStream {
 public:
  MicrobatchStream(std::shared_ptr<const data::Dataset> dataset, const config::RunConfig& config,
                   const tokenizers::Tokenizer& tokenizer, Index consumed_samples,
                   const StreamShare& share = {});
  /// Valid until the next call; Error(data) at the end of the data.
  HostMicrobatch next();

 private:
  template <class Batch>
  const Batch& present(const Batch* batch) const;

  // One of the two where this rank reads.
  std::optional<data::BatchLoader> loader_;
  std::optional<data::MaskedLmLoader> masked_loader_;
  StreamShare share_;
  Index micro_batch_size_;
  Index sequence_length_;
  Index consumed_;
  bool with_mask_;
};

}  // namespace mpitron::train
