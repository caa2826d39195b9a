#pragma once
#include <memory>
#include <vector>

#include "data/images/image_texts.h"
#include "data/loading/batch_sampler.h"
#include "data/loading/image_loader.h"
#include "data/loading/row_prefetcher.h"

namespace mpitron::data {

/// One micro-batch of texts with images, row-major.
struct ImageTextBatch {
  Index rows = 0;                              // b
  std::vector<std::int64_t> tokens, labels;    // [b, t]
  std::vector<float> loss_mask;                // [b, t]
  std::vector<float> tiles;                    // of all images, in the order of the rows
  std::vector<std::int64_t> images_per_row;    // [b]
  std::vector<std::int64_t> tiles_per_image;   // in the order of the rows
  std::vector<std::int64_t> segments;          // [b, t], where several texts share a row
  std::vector<Index> samples;                  // in the data set; fewer than b at its end
  std::vector<ImageTextDataset::Sample> read;  // [b], of which the above is made
};

/// Micro-batches of this data-parallel rank, read ahead; rows behind the end of the data have
/// weight 0. Neither the number of threads nor a restart changes a number.
class ImageTextLoader {
 public:
  /// `sampler.total_samples` is the data set's; `threads` read and decode, 0: the caller does.
  ImageTextLoader(std::shared_ptr<const ImageTextDataset> dataset,
                  const BatchSamplerRequest& sampler, Index threads);

  /// Returns the next micro-batch, valid until the next call; null at the end of the data. Errors
  /// of reading are thrown here.
  const ImageTextBatch* next();

 private:
  std::shared_ptr<const ImageTextDataset> dataset_;
  BatchSampler sampler_;
  LoaderPace pace_;
  RowPrefetcher<ImageTextBatch> prefetcher_;  // last: its threads use all of the above
};

}  // namespace mpitron::data
