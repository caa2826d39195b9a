#pragma once
#include <memory>

#include "train/batches/microbatch.h"
#include "train/batches/sample_source.h"
#include "train/model/trained_model.h"

namespace mpitron::train {

/// Says which of a split's microbatches a rank gets, and whether it reads them or only counts.
struct StreamShare {
  Index data_parallel_rank = 0;
  Index data_parallel_size = 1;
  bool reads = true;
  /// > 0: every sample once, in order, then samples without loss up to this many.
  Index padded_samples = 0;
};

/// This rank's share of all data sets.
StreamShare share_of(const TrainedModel& model);

/// Microbatches of one split, in the order of the run: its position is the number of samples that
/// all ranks together have consumed.
class MicrobatchStream {
 public:
  MicrobatchStream(std::shared_ptr<const data::Dataset> dataset, const config::RunConfig& config,
                   const TrainingData& data, Index consumed_samples, const StreamShare& share = {});
  /// Valid until the next call; Error(data) at the end of the data.
  HostMicrobatch next();

 private:
  std::unique_ptr<SampleSource> source_;  // null where this rank does not read
  StreamShare share_;
  Index micro_batch_size_;
  Index sequence_length_;
  Index consumed_;
};

/// Every row of a data set once: a rank's share of it, filled up to whole batches of all replicas.
struct WholeSet {
  MicrobatchStream stream;
  Index batches = 0;  // to be taken from it
};
/// `rows`: of the batches, where they are not the samples of the set.
WholeSet whole_set(std::shared_ptr<const data::Dataset> dataset, Index rows,
                   const config::RunConfig& config, const TrainingData& data,
                   const TrainedModel& model);

}  // namespace mpitron::train
