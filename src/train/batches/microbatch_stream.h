#pragma once
#include <memory>
#include <optional>

#include "config/run_config.h"
#include "data/gpt/dataset.h"
#include "data/loading/batch_loader.h"
#include "data/loading/image_loader.h"
#include "data/loading/image_text_loader.h"
#include "data/loading/labelled_loader.h"
#include "tokenizers/core/tokenizer.h"
#include "train/batches/masked_lm_data.h"
#include "train/batches/microbatch.h"
#include "train/model/trained_model.h"

namespace mpitron::train {

/// Which of a split's microbatches a rank gets, and whether it reads them or only counts.
struct StreamShare {
  Index data_parallel_rank = 0;
  Index data_parallel_size = 1;
  bool reads = true;
  /// > 0: every sample once, in order, then samples without loss up to this many.
  Index padded_samples = 0;
};

/// This rank's share of all data sets.
StreamShare share_of(const TrainedModel& model, const config::RunConfig& config);

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

  data::BatchSamplerRequest sampler_request(const config::RunConfig& config) const;
  /// Of BERT and T5, or of images, or of texts.
  void make_loader(std::shared_ptr<const data::Dataset> dataset, const config::RunConfig& config,
                   const tokenizers::Tokenizer& tokenizer,
                   const data::BatchSamplerRequest& sampler);
  HostMicrobatch next_images(Index first);
  HostMicrobatch next_image_texts(Index first);

  // One of them where this rank reads.
  std::optional<data::BatchLoader> loader_;
  std::optional<data::MaskedLmLoader> masked_loader_;
  std::optional<data::ImageLoader> image_loader_;
  std::optional<data::ImageTextLoader> image_text_loader_;
  std::optional<data::LabelledLoader> labelled_loader_;
  config::VisionConfig vision_;
  std::optional<config::VlmConfig> vlm_;
  std::optional<config::TextHead> head_;
  bool encoder_;
  StreamShare share_;
  Index micro_batch_size_;
  Index sequence_length_;
  Index consumed_;
  bool with_mask_;
};

}  // namespace mpitron::train
