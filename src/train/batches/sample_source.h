#pragma once
#include <memory>
#include <optional>

#include "config/run_config.h"
#include "data/loading/batch_sampler.h"
#include "data/loading/gpt_data.h"
#include "models/base/host_microbatch.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::train {

/// Microbatches of a data set in the order of its sampler, read ahead.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  /// The next one without its place in the run, valid until the next call; absent at the end of the
  /// data.
  virtual std::optional<models::HostMicrobatch> next() = 0;
};

struct TrainingData;

/// What a source reads, for which run, and from which sample on.
struct SourceRequest {
  std::shared_ptr<const data::Dataset> dataset;
  const config::RunConfig& config;
  const TrainingData& data;
  data::BatchSamplerRequest sampler;
};

/// How samples of a kind are found and read.
struct SampleRow {
  config::SampleKind kind;
  data::GptData (*sets)(const config::RunConfig& config, const tokenizers::Tokenizer& tokenizer);
  std::unique_ptr<SampleSource> (*source)(const SourceRequest& request);
};

/// One row a kind.
const SampleRow& row_of(config::SampleKind kind);

}  // namespace mpitron::train
