#include "data/loading/image_text_loader.h"

// Micro-batches of texts with images: rows are read on several threads, and joined by the one that
// ends the batch, since they differ in their numbers of tiles.

namespace mpitron::data {
namespace {

template <class T, class U>
void append(std::vector<T>& to, const std::vector<U>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

ImageTextBatch batch_of(Index rows) {
  ImageTextBatch batch{.rows = rows};
  batch.read.resize(static_cast<std::size_t>(rows));
  return batch;
}

/// A row behind the end is the first sample without loss, so that all batches have one shape.
void read_row(const ImageTextDataset& dataset, ImageTextBatch& batch, Index row) {
  const auto at = static_cast<std::size_t>(row);
  const bool real = at < batch.samples.size();
  ImageTextDataset::Sample& sample = batch.read[at];
  dataset.read_sample(real ? batch.samples[at] : 0, sample);
  if (!real) {
    sample.loss_mask.assign(sample.loss_mask.size(), 0.f);
  }
}

void join_rows(ImageTextBatch& batch) {
  ImageTextBatch joined{
      .rows = batch.rows, .samples = std::move(batch.samples), .read = std::move(batch.read)};
  for (const ImageTextDataset::Sample& sample : joined.read) {
    append(joined.tokens, sample.tokens);
    append(joined.labels, sample.labels);
    append(joined.loss_mask, sample.loss_mask);
    append(joined.tiles, sample.tiles);
    append(joined.tiles_per_image, sample.tiles_per_image);
    append(joined.segments, sample.segments);
    joined.images_per_row.push_back(static_cast<Index>(sample.tiles_per_image.size()));
  }
  batch = std::move(joined);
}

}  // namespace

ImageTextLoader::ImageTextLoader(std::shared_ptr<const ImageTextDataset> dataset,
                                 const BatchSamplerRequest& sampler, Index threads)
    : dataset_(std::move(dataset)),
      sampler_(sampler.with_total(dataset_->size())),
      pace_(sampler.micro_batch_size, threads),
      prefetcher_(
          threads, kBatchesAhead, sampler.micro_batch_size, batch_of(sampler.micro_batch_size),
          {.plan = [this](ImageTextBatch& batch) { return sampler_.next(batch.samples); },
           .fill = [this](ImageTextBatch& batch, Index row) { read_row(*dataset_, batch, row); },
           .finish = join_rows}) {}

const ImageTextBatch* ImageTextLoader::next() {
  const ImageTextBatch* batch = prefetcher_.next();
  pace_.batch_taken(prefetcher_.waited());
  return batch;
}

}  // namespace mpitron::data
