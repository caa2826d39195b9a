#pragma once
#include <memory>
#include <vector>

#include "data/images/image_texts.h"
#include "data/loading/batch_sampler.h"
#include "data/loading/prefetcher.h"

namespace mpitron::data {

/// One micro-batch of texts with images, row-major.
struct ImageTextBatch {
  Index rows = 0;                             // b
  std::vector<std::int64_t> tokens, labels;   // [b, t]
  std::vector<float> loss_mask;               // [b, t]
  std::vector<float> tiles;                   // of all images, in the order of the rows
  std::vector<std::int64_t> images_per_row;   // [b]
  std::vector<std::int64_t> tiles_per_image;  // one each
};

/// Micro-batches of this data-parallel rank, read ahead; rows behind the end of the data have
/// weight 0.
class ImageTextLoader {
 public:
  /// `sampler.total_samples` is the data set's; `prefetch` micro-batches are read ahead.
  ImageTextLoader(std::shared_ptr<const ImageTextDataset> dataset,
                  const BatchSamplerRequest& sampler, Index prefetch);

  /// The next micro-batch, valid until the next call; null at the end of the data. Errors of
  /// reading are thrown here.
  const ImageTextBatch* next() { return prefetcher_.next(); }

 private:
  bool fill(ImageTextBatch& batch);

  std::shared_ptr<const ImageTextDataset> dataset_;
  BatchSampler sampler_;
  Index rows_;
  std::vector<Index> samples_;
  ImageTextDataset::Sample sample_;
  Prefetcher<ImageTextBatch> prefetcher_;  // last: its thread uses all of the above
};

}  // namespace mpitron::data
