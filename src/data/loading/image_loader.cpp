#include "data/loading/image_loader.h"

#include <algorithm>

#include "utils/log.h"

// Micro-batches of images, decoded ahead on several threads, and a warning where they come too
// slowly.

namespace mpitron::data {
namespace {

template <class T>
std::span<T> row_of(std::vector<T>& column, Index row, Index rows) {
  const std::size_t width = column.size() / static_cast<std::size_t>(rows);
  return std::span(column).subspan(static_cast<std::size_t>(row) * width, width);
}

}  // namespace

ImageLoader::ImageLoader(std::shared_ptr<const ImageDataset> dataset, const Options& options)
    : dataset_(std::move(dataset)),
      sampler_(options.sampler.with_total(dataset_->size())),
      pace_(options.sampler.micro_batch_size, options.threads),
      prefetcher_(options.threads, kBatchesAhead, options.sampler.micro_batch_size,
                  empty_batch(options.sampler.micro_batch_size),
                  {.plan = [this](ImageBatch& batch) { return plan(batch); },
                   .fill = [this](ImageBatch& batch, Index row) { fill(batch, row); }}) {}

ImageBatch ImageLoader::empty_batch(Index rows) const {
  const auto count = static_cast<std::size_t>(rows);
  return {.rows = rows,
          .pixels = std::vector<float>(count * static_cast<std::size_t>(dataset_->pixels())),
          .labels = std::vector<std::int64_t>(count),
          .weights = std::vector<float>(count),
          .masks = std::vector<float>(count * static_cast<std::size_t>(dataset_->mask_patches())),
          .samples = {}};
}

bool ImageLoader::plan(ImageBatch& batch) {
  const bool more = sampler_.next(batch.samples);
  batch.epoch = sampler_.epoch();
  return more;
}

void ImageLoader::fill(ImageBatch& batch, Index row) const {
  const auto at = static_cast<std::size_t>(row);
  const bool real = at < batch.samples.size();
  batch.weights[at] = real ? 1.f : 0.f;
  dataset_->read_view(real ? batch.samples[at] : 0, batch.epoch,
                      {.pixels = row_of(batch.pixels, row, batch.rows),
                       .label = &batch.labels[at],
                       .mask = row_of(batch.masks, row, batch.rows)});
  if (!real) {
    std::ranges::fill(row_of(batch.masks, row, batch.rows), 0.f);
  }
}

const ImageBatch* ImageLoader::next() {
  const ImageBatch* batch = prefetcher_.next();
  pace_.batch_taken(prefetcher_.waited());
  return batch;
}

void LoaderPace::batch_taken(double waited) {
  constexpr Index kUnmeasured = 4;  // batches in which caches and threads warm up
  constexpr Index kMeasured = 50;   // at least
  constexpr double kSeconds = 10;   // likewise
  constexpr double kShare = 0.01;   // of the time that may be spent in waiting
  if (told_ || ++batches_ <= kUnmeasured) {
    timer_.restart();
    first_wait_ = waited;
    return;
  }
  const Index batches = batches_ - kUnmeasured;
  const double seconds = timer_.seconds(), wait = waited - first_wait_;
  if (batches < kMeasured || seconds < kSeconds) {
    return;
  }
  told_ = true;
  const auto images = static_cast<double>(batches * rows_);
  // Decoding and computing overlap: images that are needed is the rate without the waits.
  if (wait > kShare * seconds && wait < seconds) {
    log::warning(
        "training waits for images {:.0f} % of the time: {:.0f} a second are decoded, {:.0f} are "
        "needed; --num-workers (now {}) decode on more threads",
        100 * wait / seconds, images / seconds, images / (seconds - wait), threads_);
  }
}

}  // namespace mpitron::data
