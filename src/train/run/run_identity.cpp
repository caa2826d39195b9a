// Writes a run's position into the headers of its files and reads it back.
#include "train/run/run_identity.h"

namespace mpitron::train {
namespace {

constexpr const char* kConsumedValidSamples = "consumed_valid_samples";

}  // namespace

void set_position(checkpoint::Header& header, const RunPosition& position) {
  header.iteration = position.iteration;
  header.consumed_train_samples = position.consumed_train_samples;
  header.integers[kConsumedValidSamples] = position.consumed_valid_samples;
}

RunPosition position_of(const checkpoint::Header& header) {
  const auto valid = header.integers.find(kConsumedValidSamples);
  return {.iteration = header.iteration,
          .consumed_train_samples = header.consumed_train_samples,
          .consumed_valid_samples = valid != header.integers.end() ? valid->second : 0};
}

}  // namespace mpitron::train
