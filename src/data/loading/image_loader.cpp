#include "data/loading/image_loader.h"

#include <algorithm>
#include <exception>
#include <thread>

namespace mpitron::data {
namespace {

constexpr Index kAhead = 2;  // micro-batches

ImageBatch empty_batch(const config::VisionConfig& vision, Index rows) {
  const auto count = static_cast<std::size_t>(rows);
  const auto pixels =
      static_cast<std::size_t>(vision.channels * vision.image_height * vision.image_width);
  const bool masked = vision.task == config::VisionTask::inpaint;
  return {
      .rows = rows,
      .pixels = std::vector<float>(count * pixels),
      .labels = std::vector<std::int64_t>(count),
      .weights = std::vector<float>(count),
      .masks = std::vector<float>(masked ? count * static_cast<std::size_t>(vision.patches()) : 0)};
}

template <class T>
std::span<T> row_of(std::vector<T>& column, Index row, Index rows) {
  const std::size_t width = column.size() / static_cast<std::size_t>(rows);
  return std::span(column).subspan(static_cast<std::size_t>(row) * width, width);
}

/// work(i) for i in [0, count), on so many threads; the first error of the lowest i is thrown.
template <class Work>
void on_threads(Index count, Index threads, const Work& work) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(count));
  const auto run = [&](Index first) {
    for (Index i = first; i < count; i += std::max<Index>(threads, 1)) {
      try {
        work(i);
      } catch (...) {
        errors[static_cast<std::size_t>(i)] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> others;
  for (Index thread = 1; thread < std::min(threads, count); ++thread) {
    others.emplace_back(run, thread);
  }
  run(0);
  for (std::thread& other : others) {
    other.join();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) {
      std::rethrow_exception(error);
    }
  }
}

}  // namespace

ImageLoader::ImageLoader(std::shared_ptr<const ImageDataset> dataset, const Options& options)
    : dataset_(std::move(dataset)),
      vision_(options.vision),
      threads_(options.threads),
      batch_size_(options.sampler.micro_batch_size),
      sampler_(options.sampler.with_total(dataset_->size())),
      prefetcher_(threads_ > 0 ? kAhead : 0, empty_batch(vision_, batch_size_),
                  [this](ImageBatch& batch) { return fill(batch); }) {}

void ImageLoader::fill_row(ImageBatch& batch, Index row) const {
  const bool real = row < static_cast<Index>(samples_.size());
  batch.weights[static_cast<std::size_t>(row)] = real ? 1.f : 0.f;
  dataset_->read_view(real ? samples_[static_cast<std::size_t>(row)] : 0, sampler_.epoch(),
                      {.pixels = row_of(batch.pixels, row, batch.rows),
                       .label = &batch.labels[static_cast<std::size_t>(row)],
                       .mask = row_of(batch.masks, row, batch.rows)});
  if (!real) {
    std::ranges::fill(row_of(batch.masks, row, batch.rows), 0.f);
  }
}

bool ImageLoader::fill(ImageBatch& batch) {
  if (!sampler_.next(samples_)) {
    return false;
  }
  on_threads(batch.rows, threads_, [&](Index row) { fill_row(batch, row); });
  return true;
}

}  // namespace mpitron::data
