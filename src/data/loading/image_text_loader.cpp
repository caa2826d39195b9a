#include "data/loading/image_text_loader.h"

namespace mpitron::data {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

ImageTextLoader::ImageTextLoader(std::shared_ptr<const ImageTextDataset> dataset,
                                 const BatchSamplerRequest& sampler, Index prefetch)
    : dataset_(std::move(dataset)),
      sampler_(sampler.with_total(dataset_->size())),
      rows_(sampler.micro_batch_size),
      prefetcher_(static_cast<std::size_t>(prefetch), {},
                  [this](ImageTextBatch& batch) { return fill(batch); }) {}

bool ImageTextLoader::fill(ImageTextBatch& batch) {
  if (!sampler_.next(samples_)) {
    return false;
  }
  batch = {.rows = rows_};
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows_); ++row) {
    const bool real = row < samples_.size();
    dataset_->read_sample(real ? samples_[row] : 0, sample_);
    if (!real) {
      sample_.loss_mask.assign(sample_.loss_mask.size(), 0.f);
    }
    append(batch.tokens, sample_.tokens);
    append(batch.labels, sample_.labels);
    append(batch.loss_mask, sample_.loss_mask);
    append(batch.tiles, sample_.tiles);
    batch.images_per_row.push_back(sample_.images);
    batch.tiles_per_image.insert(batch.tiles_per_image.end(),
                                 static_cast<std::size_t>(sample_.images), 1);
  }
  return true;
}

}  // namespace mpitron::data
