#pragma once
#include "train/batches/sample_source.h"
#include "train/batches/training_data.h"

namespace mpitron::train {

/// --data-path of folders, one subfolder a class. As the reference takes its list of folders: the
/// second is for validation, and of three the last is for training.
data::GptData image_sets(const config::RunConfig& config, const tokenizers::Tokenizer& tokenizer);
std::unique_ptr<SampleSource> image_source(const SourceRequest& request);

/// The training images as they are, neither cropped nor changed.
std::shared_ptr<const data::Dataset> known_images(const TrainingData& data);

/// --data-path TRAIN [VALIDATION], files of texts with images.
data::GptData image_text_sets(const config::RunConfig& config,
                              const tokenizers::Tokenizer& tokenizer);
std::unique_ptr<SampleSource> image_text_source(const SourceRequest& request);

}  // namespace mpitron::train
