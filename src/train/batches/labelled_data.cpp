#include <algorithm>
#include <iterator>
#include <span>

#include "models/bert/bert_batch.h"
#include "models/text_head/text_head_batch.h"
#include "train/batches/text_encoder.h"
#include "train/batches/training_data.h"
#include "utils/error.h"

// Data sets and sources of `mpitron finetune`: files of a task as samples, epochs as iterations.

namespace mpitron::train {
namespace {

using tokenizers::TokenId;

std::int64_t wanted(const std::optional<TokenId>& id, const char* name,
                    const tokenizers::Tokenizer& tokenizer) {
  if (!id) {
    throw_usage(
        "--tokenizer-type {}: has no token {}, which samples of BERT need; take "
        "BertWordPieceLowerCase or BertWordPieceCase with --vocab-file",
        tokenizer.name(), name);
  }
  return *id;
}

/// Reads the options that a labelled data set needs from a run's configuration.
data::LabelledDataset::Options options_of(const config::RunConfig& config,
                                          const tokenizers::Tokenizer& tokenizer) {
  data::LabelledDataset::Options options{.length = config.training.seq_length,
                                         .choices = config.model.text_head->choices,
                                         .encoder = !config.model.family().decoder_only,
                                         .eod = tokenizer.eod(),
                                         .encode = make_text_encoder(tokenizer)};
  if (options.encoder) {
    const tokenizers::Tokenizer::SpecialIds special = tokenizer.special_ids();
    options.cls = wanted(special.cls, "[CLS]", tokenizer);
    options.sep = wanted(special.sep, "[SEP]", tokenizer);
    options.pad = wanted(special.pad, "[PAD]", tokenizer);
  }
  return options;
}

std::vector<data::LabelledText> read_all(const std::string& task,
                                         std::span<const std::string> paths) {
  std::vector<data::LabelledText> texts;
  for (const std::string& path : paths) {
    std::vector<data::LabelledText> own = data::read_labelled_texts(task, path);
    std::ranges::move(own, std::back_inserter(texts));
  }
  return texts;
}

std::shared_ptr<const data::LabelledDataset> joined_set(const config::RunConfig& config,
                                                        const tokenizers::Tokenizer& tokenizer,
                                                        const std::vector<std::string>& paths) {
  const std::string& task = config.data.text_task->name;
  return paths.empty() ? nullptr
                       : std::make_shared<const data::LabelledDataset>(
                             task, read_all(task, paths), options_of(config, tokenizer));
}

/// Microbatches of labelled texts.
class LabelledSource final : public SampleSource {
 public:
  explicit LabelledSource(const SourceRequest& request)
      : loader_(std::dynamic_pointer_cast<const data::LabelledDataset>(request.dataset),
                task_sampler(request.config, request.sampler), request.config.data.num_workers),
        choices_(request.config.model.text_head->choices),
        encoder_(!request.config.model.family().decoder_only) {}

  std::optional<models::HostMicrobatch> next() override {
    const data::LabelledBatch* batch = loader_.next();
    if (batch == nullptr) {
      return std::nullopt;
    }
    const Index texts = batch->rows * choices_;
    models::HostMicrobatch result{
        .samples = texts,
        .sequence_length = static_cast<Index>(batch->tokens.size()) / texts,
        .columns = {{models::kTokens, batch->tokens},
                    {models::kLabels, batch->labels},
                    {models::kLossMask, batch->weights},
                    {models::kScores, batch->scores}}};
    if (encoder_) {
      result.columns.set(models::kPaddingMask, batch->padding_mask);
      result.columns.set(models::kTokenTypes, batch->token_types);
    } else {
      result.columns.set(models::kLastTokens, batch->last_tokens);
    }
    return result;
  }

 private:
  data::LabelledLoader loader_;
  Index choices_;
  bool encoder_;  // reads the first position
};

}  // namespace

data::GptData labelled_sets(const config::RunConfig& config,
                            const tokenizers::Tokenizer& tokenizer) {
  const config::TextTaskConfig& task = *config.data.text_task;
  data::GptData sets;
  if (!config.training.skip_train) {
    sets.train = joined_set(config, tokenizer, task.train);
  }
  if (auto valid = joined_set(config, tokenizer, task.valid)) {
    sets.valid.push_back(std::move(valid));
  }
  return sets;
}

std::vector<TaskFile> task_files(const config::RunConfig& config,
                                 const tokenizers::Tokenizer& tokenizer) {
  const config::TextTaskConfig& task = *config.data.text_task;
  std::vector<TaskFile> files;
  for (const std::string& path : task.valid) {
    files.push_back({data::data_name(task.name, path), joined_set(config, tokenizer, {path})});
  }
  return files;
}

/// How the samples of a task are dealt out to replicas, epoch by epoch.
data::BatchSamplerRequest task_sampler(const config::RunConfig& config,
                                       data::BatchSamplerRequest request) {
  const Index choices = config.model.text_head->choices;
  const config::TrainingConfig& training = config.training;
  request.batches_of_step =
      training.global_batch_size / (request.micro_batch_size * request.data_parallel_size);
  request.micro_batch_size /= choices;
  request.consumed_samples /= choices;
  request.padded_samples /= choices;
  request.seed = training.seed;
  if (request.padded_samples == 0) {
    request.kind = data::SamplerKind::epochs;
    request.drop_last = !config.data.text_task->keep_last;
  }
  return request;
}

/// Iterations of all epochs.
Index task_iterations(const config::RunConfig& config) {
  const config::TextTaskConfig& task = *config.data.text_task;
  data::BatchSamplerRequest request =
      task_sampler(config, {.micro_batch_size = config.training.micro_batch_size,
                            .data_parallel_size = config.parallel.data_parallel_size});
  if (task.epochs == 0) {
    return 1;
  }
  request.total_samples = static_cast<Index>(read_all(task.name, task.train).size());
  const data::BatchSampler first(request);  // complains of too few samples
  return task.epochs * (request.batches_of_epoch() / request.batches_of_step);
}

std::unique_ptr<SampleSource> labelled_source(const SourceRequest& request) {
  return std::make_unique<LabelledSource>(request);
}

}  // namespace mpitron::train
