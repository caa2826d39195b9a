#pragma once
#include <memory>

#include "config/run_config.h"
#include "data/loading/gpt_data.h"
#include "tokenizers/core/tokenizer.h"
#include "train/batches/labelled_data.h"
#include "train/teachers/row_values.h"
#include "train/teachers/teacher_file.h"

namespace mpitron::train {

/// The rows of the embedding: the tokenizer's vocabulary padded, or `--padded-vocab-size`;
/// Error(usage) where that is too small.
Index padded_vocab_size(const config::RunConfig& config, Index vocab_size);

/// Tokenizer and data sets of a run.
struct TrainingData {
  std::unique_ptr<tokenizers::Tokenizer> tokenizer;
  data::GptData sets;
  std::vector<TaskFile> task_files = {};  // of `mpitron finetune`: evaluated after every epoch
  /// With --dpo: the weighted log-probabilities of each row by the model that stays.
  std::shared_ptr<RowValues> reference = nullptr;
  std::shared_ptr<const TeacherFile> teacher = nullptr;  // with --teacher-file
};

std::unique_ptr<tokenizers::Tokenizer> make_run_tokenizer(const config::DataConfig& config);
/// What a sample of a GPT run holds.
data::GptSampleOptions sample_options(const config::RunConfig& config,
                                      const tokenizers::Tokenizer& tokenizer);
/// Everything that decides which samples a run sees.
data::GptDataRequest make_data_request(const config::RunConfig& config,
                                       const tokenizers::Tokenizer& tokenizer);
/// Opens the corpora and builds or loads the indices for the samples that the run will consume.
TrainingData make_training_data(const config::RunConfig& config);

}  // namespace mpitron::train
