#include "train/batches/microbatch_stream.h"

#include <utility>

#include "utils/error.h"

namespace mpitron::train {

StreamShare share_of(const TrainedModel& model) {
  const comm::ParallelGroups& groups = model.groups();
  return {.data_parallel_rank = groups.data->rank(),
          .data_parallel_size = groups.data->size(),
          .reads = groups.tensor->rank() == 0 && model.reads_data()};
}

/// Opens the loader behind the samples that a run has consumed; a rank that does not read has none.
MicrobatchStream::MicrobatchStream(std::shared_ptr<const data::Dataset> dataset,
                                   const config::RunConfig& config, const TrainingData& data,
                                   Index consumed_samples, const StreamShare& share)
    : share_(share),
      micro_batch_size_(config.training.micro_batch_size),
      sequence_length_(config.training.seq_length),
      consumed_(consumed_samples) {
  if (!share.reads) {
    return;
  }
  const bool shuffles = config.data.dataloader_type == config::DataloaderType::cyclic;
  const bool whole = share.padded_samples > 0;
  const data::BatchSamplerRequest sampler{
      .kind = shuffles && !whole ? data::SamplerKind::cyclic : data::SamplerKind::single,
      .consumed_samples = consumed_samples,
      .micro_batch_size = micro_batch_size_,
      .data_parallel_rank = share.data_parallel_rank,
      .data_parallel_size = share.data_parallel_size,
      .drop_last = !whole,
      .data_sharding = config.data.data_sharding,
      .padded_samples = share.padded_samples};
  source_ =
      row_of(config.model.samples())
          .source(
              {.dataset = std::move(dataset), .config = config, .data = data, .sampler = sampler});
}

/// Every rank counts, whether it reads or not: the number of the first sample decides dropout
/// masks.
HostMicrobatch MicrobatchStream::next() {
  HostMicrobatch microbatch{.samples = micro_batch_size_, .sequence_length = sequence_length_};
  if (source_) {
    std::optional<HostMicrobatch> read = source_->next();
    if (!read) {
      throw_data(
          "the data set ends after {} samples; --dataloader-type cyclic begins again, in another "
          "order",
          consumed_);
    }
    microbatch = std::move(*read);
  }
  microbatch.first_sample = consumed_ + share_.data_parallel_rank * micro_batch_size_;
  consumed_ += micro_batch_size_ * share_.data_parallel_size;
  return microbatch;
}

WholeSet whole_set(std::shared_ptr<const data::Dataset> dataset, Index rows,
                   const config::RunConfig& config, const TrainingData& data,
                   const TrainedModel& model) {
  StreamShare share = share_of(model);
  const Index together = config.training.micro_batch_size * share.data_parallel_size;
  const Index batches = (rows + together - 1) / together;
  share.padded_samples = batches * together;
  return {MicrobatchStream(std::move(dataset), config, data, 0, share), batches};
}

}  // namespace mpitron::train
