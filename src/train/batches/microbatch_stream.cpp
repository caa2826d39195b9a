#include "train/batches/microbatch_stream.h"

#include "train/batches/training_data.h"
#include "utils/error.h"

namespace mpitron::train {

StreamShare share_of(const TrainedModel& model, const config::RunConfig& config) {
  const comm::ParallelGroups& groups = model.groups();
  return {
      .data_parallel_rank = groups.data->rank(),
      .data_parallel_size = groups.data->size(),
      .reads = groups.tensor->rank() == 0 && model.reads_data(microbatch_parts(config).masks())};
}

MicrobatchStream::MicrobatchStream(std::shared_ptr<const data::Dataset> dataset,
                                   const config::RunConfig& config,
                                   const tokenizers::Tokenizer& tokenizer, Index consumed_samples,
                                   const StreamShare& share)
    : vision_(config.model.vision),
      vlm_(config.model.vlm),
      head_(config.model.text_head),
      encoder_(config.model.kind == config::ModelKind::bert),
      share_(share),
      micro_batch_size_(config.training.micro_batch_size),
      sequence_length_(config.training.seq_length),
      consumed_(consumed_samples),
      with_mask_(config.data.has_attention_masks()) {
  if (share.reads) {
    make_loader(std::move(dataset), config, tokenizer, sampler_request(config));
  }
}

data::BatchSamplerRequest MicrobatchStream::sampler_request(const config::RunConfig& config) const {
  const bool shuffles = config.data.dataloader_type == config::DataloaderType::cyclic;
  const bool whole = share_.padded_samples > 0;
  data::BatchSamplerRequest request{
      .kind = shuffles && !whole ? data::SamplerKind::cyclic : data::SamplerKind::single,
      .consumed_samples = consumed_,
      .micro_batch_size = micro_batch_size_,
      .data_parallel_rank = share_.data_parallel_rank,
      .data_parallel_size = share_.data_parallel_size,
      .drop_last = !whole,
      .data_sharding = config.data.data_sharding,
      .padded_samples = share_.padded_samples};
  return config.data.text_task ? task_sampler(config, request) : request;
}

void MicrobatchStream::make_loader(std::shared_ptr<const data::Dataset> dataset,
                                   const config::RunConfig& config,
                                   const tokenizers::Tokenizer& tokenizer,
                                   const data::BatchSamplerRequest& sampler) {
  if (head_) {
    labelled_loader_.emplace(std::dynamic_pointer_cast<const data::LabelledDataset>(dataset),
                             sampler, config.data.num_workers);
    return;
  }
  if (vlm_) {
    image_text_loader_.emplace(std::dynamic_pointer_cast<const data::ImageTextDataset>(dataset),
                               sampler, config.data.num_workers);
    return;
  }
  switch (config.model.kind) {
    case config::ModelKind::vit:
      image_loader_.emplace(
          std::dynamic_pointer_cast<const data::ImageDataset>(dataset),
          data::ImageLoader::Options{
              .vision = vision_, .sampler = sampler, .threads = config.data.num_workers});
      break;
    case config::ModelKind::gpt:
      loader_.emplace(std::move(dataset),
                      data::BatchLoaderOptions{.sample = sample_options(config, tokenizer),
                                               .sampler = sampler,
                                               .prefetch = config.data.num_workers});
      break;
    default:
      masked_loader_.emplace(std::move(dataset), masked_lm_layout(config.model), sampler,
                             config.data.num_workers);
  }
}

HostMicrobatch MicrobatchStream::next_images(Index first) {
  const data::ImageBatch& batch = present(image_loader_->next());
  return {.samples = batch.rows,
          .sequence_length = sequence_length_,
          .labels = batch.labels,
          .loss_mask = batch.weights,
          .first_sample = first,
          .pixels = batch.pixels,
          .patch_mask = batch.masks,
          .vision = &vision_};
}

HostMicrobatch MicrobatchStream::next_image_texts(Index first) {
  const data::ImageTextBatch& batch = present(image_text_loader_->next());
  return {.samples = batch.rows,
          .sequence_length = sequence_length_,
          .tokens = batch.tokens,
          .labels = batch.labels,
          .position_ids = {},
          .loss_mask = batch.loss_mask,
          .attention_mask = {},
          .first_sample = first,
          .pixels = batch.tiles,
          .images_per_row = batch.images_per_row,
          .tiles_per_image = batch.tiles_per_image,
          .vlm = &*vlm_};
}

HostMicrobatch MicrobatchStream::next() {
  const Index first = consumed_ + share_.data_parallel_rank * micro_batch_size_;
  consumed_ += micro_batch_size_ * share_.data_parallel_size;
  if (masked_loader_) {
    return microbatch_of(present(masked_loader_->next()), sequence_length_, first);
  }
  if (labelled_loader_) {
    return microbatch_of(present(labelled_loader_->next()), *head_, encoder_, first);
  }
  if (image_loader_) {
    return next_images(first);
  }
  if (image_text_loader_) {
    return next_image_texts(first);
  }
  if (!loader_) {
    return {
        .samples = micro_batch_size_, .sequence_length = sequence_length_, .first_sample = first};
  }
  const data::Batch& batch = present(loader_->next());
  return {.samples = batch.rows,
          .sequence_length = batch.seq_length,
          .tokens = batch.tokens,
          .labels = batch.labels,
          .position_ids = batch.position_ids,
          .loss_mask = batch.loss_mask,
          .attention_mask =
              with_mask_ ? std::span(batch.attention_mask) : std::span<const std::uint8_t>{},
          .first_sample = first};
}

template <class Batch>
const Batch& MicrobatchStream::present(const Batch* batch) const {
  if (batch == nullptr) {
    throw_data("the data set ends after {} samples",
               consumed_ - micro_batch_size_ * share_.data_parallel_size);
  }
  return *batch;
}

}  // namespace mpitron::train
