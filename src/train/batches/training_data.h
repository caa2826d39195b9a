#pragma once
#include <memory>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "data/loading/gpt_data.h"
#include "data/loading/labelled_loader.h"
#include "data/loading/masked_lm_loader.h"
#include "tokenizers/core/tokenizer.h"
#include "train/batches/sample_source.h"
#include "train/teachers/row_values.h"
#include "train/teachers/teacher_file.h"

namespace mpitron::train {

/// A file of --valid-data.
struct TaskFile {
  std::string name;  // in the log
  std::shared_ptr<const data::LabelledDataset> set;
};

/// Opens the labelled texts of `mpitron finetune`, and all of --valid-data together. Error(usage)
/// where the tokenizer lacks [CLS], [SEP] or [PAD] of an encoder.
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

/// The rows of the embedding: the tokenizer's vocabulary padded, or `--padded-vocab-size`;
/// Error(usage) where that is too small.
Index padded_vocab_size(const config::RunConfig& config, Index vocab_size);

/// Tokenizer and data sets of a run.
struct TrainingData {
  std::unique_ptr<tokenizers::Tokenizer> tokenizer;
  data::GptData sets;
  std::vector<TaskFile> task_files = {};  // of `mpitron finetune`: evaluated after every epoch
  /// Holds, with --dpo, the sum of the weighted log-probabilities of each row by the model that
  /// stays fixed.
  std::shared_ptr<RowValues> reference = nullptr;
  std::shared_ptr<const TeacherFile> teacher = nullptr;  // with --teacher-file
};

std::unique_ptr<tokenizers::Tokenizer> make_run_tokenizer(const config::DataConfig& config);
/// Returns what a sample of a GPT run holds.
data::GptSampleOptions sample_options(const config::RunConfig& config,
                                      const tokenizers::Tokenizer& tokenizer);
/// Samples of each split that a run takes, as the reference counts them (features: training.py);
/// nothing where it takes them all.
data::PerSplit<std::optional<Index>> requested_samples(const config::TrainingConfig& training);
/// Everything that decides which samples a run sees.
data::GptDataRequest make_data_request(const config::RunConfig& config,
                                       const tokenizers::Tokenizer& tokenizer);
/// Opens the corpora and builds or loads the indices for the samples that the run will consume.
TrainingData make_training_data(const config::RunConfig& config);

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

/// Returns what BERT's or T5's samples need of a tokenizer; Error(usage) where it lacks a special
/// token or, for T5, sentinels.
data::MaskedLmVocabulary masked_lm_vocabulary(const config::RunConfig& config,
                                              const tokenizers::Tokenizer& tokenizer);

/// How the samples of a run are made; nothing where they are not padded.
std::optional<data::MaskedLmRequest> masked_lm_request(const config::RunConfig& config,
                                                       const tokenizers::Tokenizer& tokenizer);

/// Samples of BERT or T5; `length`: the encoder's. A batch must live as long as what is made of it.
models::HostMicrobatch microbatch_of(const data::MaskedLmBatch& batch, Index length);
std::unique_ptr<SampleSource> masked_lm_source(const SourceRequest& request);

}  // namespace mpitron::train
