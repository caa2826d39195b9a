#pragma once
#include <memory>
#include <vector>

#include "data/images/image_dataset.h"
#include "data/loading/batch_sampler.h"
#include "data/loading/row_prefetcher.h"
#include "utils/numbers/shape.h"
#include "utils/timer.h"

namespace mpitron::data {

/// Measures whether training waits for its images. Told once: how many a second were given and how
/// many are needed.
class LoaderPace {
 public:
  LoaderPace(Index rows, Index threads) : rows_(rows), threads_(threads) {}

  /// To be called after each batch. `waited`: seconds that the consumer has waited since the start.
  void batch_taken(double waited);

 private:
  Index rows_, threads_;
  Index batches_ = 0;
  double first_wait_ = 0;
  bool told_ = false;
  Timer timer_;
};

/// One micro-batch of images. Rows behind the end of the data are the first image, with weight 0.
struct ImageBatch {
  Index rows = 0;                    // b
  std::vector<float> pixels;         // [b, 3, height, width]; of DINO [b, all crops]
  std::vector<std::int64_t> labels;  // [b]
  std::vector<float> weights;        // [b], of the loss
  std::vector<float> masks;          // [b, patches], 1 = masked; to inpaint only
  std::vector<Index> samples;        // in the data set; fewer than b at its end
  Index epoch = 0;
};

/// Micro-batches of this data-parallel rank, decoded ahead; its whole position is the number of
/// consumed samples. Neither the number of threads nor a restart changes a pixel.
class ImageLoader {
 public:
  struct Options {
    BatchSamplerRequest sampler;  // total_samples is the data set's
    Index threads = 2;            // that decode; 0: the caller does
  };
  ImageLoader(std::shared_ptr<const ImageDataset> dataset, const Options& options);

  /// Returns the next micro-batch, valid until the next call; null at the end of the data. Errors
  /// of reading are thrown here.
  const ImageBatch* next();

 private:
  ImageBatch empty_batch(Index rows) const;
  bool plan(ImageBatch& batch);
  void fill(ImageBatch& batch, Index row) const;

  std::shared_ptr<const ImageDataset> dataset_;
  BatchSampler sampler_;
  LoaderPace pace_;
  RowPrefetcher<ImageBatch> prefetcher_;  // last: its threads use all of the above
};

}  // namespace mpitron::data
