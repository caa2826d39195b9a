#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/loading/labelled_loader.h"
#include "train/batches/sample_source.h"

namespace mpitron::train {

/// A file of --valid-data.
struct TaskFile {
  std::string name;  // in the log
  std::shared_ptr<const data::LabelledDataset> set;
};

/// What `mpitron finetune` learns, and all of --valid-data together. Error(usage) where the
/// tokenizer lacks [CLS], [SEP] or [PAD] of an encoder.
data::GptData labelled_sets(const config::RunConfig& config,
                            const tokenizers::Tokenizer& tokenizer);
std::vector<TaskFile> task_files(const config::RunConfig& config,
                                 const tokenizers::Tokenizer& tokenizer);

/// The samples of a run of epochs; `request` counts texts, of which a sample may have several.
data::BatchSamplerRequest task_sampler(const config::RunConfig& config,
                                       data::BatchSamplerRequest request);

/// The iterations that --epochs make of --train-data; at least 1. Error(usage) where an epoch has
/// not one step.
Index task_iterations(const config::RunConfig& config);

std::unique_ptr<SampleSource> labelled_source(const SourceRequest& request);

}  // namespace mpitron::train
