#pragma once
#include <vector>

#include "train/batches/microbatch_stream.h"

namespace mpitron::plan {

/// Microbatches of zeros with all the parts that a run's have, of this rank's share.
class EmptyBatches {
 public:
  EmptyBatches(const config::RunConfig& run, const train::TrainedModel& model);
  /// Valid until the end.
  train::HostMicrobatch next();

 private:
  std::span<const std::int64_t> numbers(Index each) const;
  std::span<const float> weights(Index each) const;

  train::MicrobatchParts parts_;
  train::StreamShare share_;
  Index samples_;
  Index length_;
  Index first_ = 0;
  std::vector<std::int64_t> numbers_;
  std::vector<float> weights_;
  std::vector<std::uint8_t> mask_;
};

}  // namespace mpitron::plan
