#include "train/batches/training_data.h"

#include "data/index/split.h"
#include "tokenizers/make_tokenizer.h"
#include "train/batches/sample_source.h"
#include "train/batches/text_encoder.h"
#include "train/batches/tokenizer_options.h"
#include "utils/error.h"

// From the options of a run to tokenizer and data sets. The padded vocabulary is decided here,
// since the model is made with it.

namespace mpitron::train {
namespace {

data::LearnedTurns learned_turns(const config::DataConfig& config) {
  using enum data::LearnedTurns;
  return config.sft_train_on_prompt                      ? everything
         : config.sft_last_turn_only || config.sft_pairs ? last_answer
                                                         : answers;
}

data::ConversationSamples conversation_samples(const config::RunConfig& config) {
  using enum data::ConversationSamples;
  const auto& dpo = config.model.preference;
  return config.data.sft_packing         ? packed
         : dpo && dpo->length_normalized ? pairs_by_length
         : dpo                           ? pairs
                                         : one;
}

}  // namespace

/// Counts the samples that a run may ask of each split, as the reference does: data sets are
/// indexed for that many.
data::PerSplit<std::optional<Index>> requested_samples(const config::TrainingConfig& training) {
  const Index batch = training.global_batch_size;
  const Index evaluations =
      training.eval_interval > 0 ? training.train_iters / training.eval_interval + 1 : 1;
  data::PerSplit<std::optional<Index>> samples;
  samples[data::Split::train] = training.train_samples.value_or(training.train_iters * batch);
  samples[data::Split::valid] = evaluations * training.eval_iters * batch;
  samples[data::Split::test] = training.eval_iters * batch;
  if (training.full_validation) {
    samples[data::Split::valid] = std::nullopt;
  }
  return samples;
}

/// The tokenizer's vocabulary, padded so that every tensor parallel rank has as many rows.
Index padded_vocab_size(const config::RunConfig& config, Index vocab_size) {
  const config::DataConfig& data = config.data;
  if (data.padded_vocab_size) {
    if (*data.padded_vocab_size < vocab_size) {
      throw_usage("--padded-vocab-size {} is smaller than the tokenizer's vocabulary of {}",
                  *data.padded_vocab_size, vocab_size);
    }
    return *data.padded_vocab_size;
  }
  return config::pad_vocab_size(vocab_size, data.make_vocab_size_divisible_by,
                                config.parallel.tensor_model_parallel_size);
}

/// The causal mask costs no bytes; only documents packed into a sample need one.
data::GptSampleOptions sample_options(const config::RunConfig& config,
                                      const tokenizers::Tokenizer& tokenizer) {
  return {.seq_length = config.training.seq_length,
          .reset_position_ids = config.data.reset_position_ids,
          .reset_attention_mask = config.data.reset_attention_mask,
          .inter_document_masking = config.data.inter_document_masking,
          .eod_mask_loss = config.data.eod_mask_loss,
          // The causal mask needs no bytes; only packed documents do.
          .create_attention_mask = config.data.has_attention_masks(),
          .eod = tokenizer.eod(),
          .pad = config.data.sft ? tokenizer.special_ids().pad.value_or(-1) : -1};
}

/// The cache of indices depends on all of it but the paths of the cache itself.
data::GptDataRequest make_data_request(const config::RunConfig& config,
                                       const tokenizers::Tokenizer& tokenizer) {
  data::GptDataRequest request;
  request.blend = data::parse_blend(config.data.data_path);
  request.split = config.data.split;
  request.per_split[data::Split::train] = data::parse_blend(config.data.train_data_path);
  request.per_split[data::Split::valid] = data::parse_blend(config.data.valid_data_path);
  request.per_split[data::Split::test] = data::parse_blend(config.data.test_data_path);
  request.mock = config.data.mock_data;
  request.num_samples = requested_samples(config.training);
  request.seed = config.data.seed;
  request.sample = sample_options(config, tokenizer);
  request.tokenizer = tokenizer.identity();
  request.vocab_size = config.data.mock_data ? tokenizer.vocab_size()
                                             : padded_vocab_size(config, tokenizer.vocab_size());
  request.cache_path = config.data.data_cache_path;
  request.mmap_bin_files = config.data.mmap_bin_files;
  request.surplus = config.data.mid_level_dataset_surplus;
  request.multiple_validation_sets = config.data.multiple_validation_sets;
  request.builder_threads = config.data.num_dataset_builder_threads;
  request.tokenizer_hash = tokenizer.fingerprint();
  request.masked_lm = masked_lm_request(config, tokenizer);
  if (config.data.fim) {
    request.fim = data::make_fim_options(*config.data.fim, config.data.seed, tokenizer);
  }
  if (config.data.sft) {
    request.encode = make_conversation_encoder(tokenizer, learned_turns(config.data));
    request.conversations = conversation_samples(config);
  }
  return request;
}

std::unique_ptr<tokenizers::Tokenizer> make_run_tokenizer(const config::DataConfig& config) {
  return tokenizers::make_tokenizer(tokenizer_options(config));
}

/// Opens tokenizer and data sets in the form that the model's family reads.
TrainingData make_training_data(const config::RunConfig& config) {
  TrainingData result{.tokenizer = make_run_tokenizer(config.data), .sets = {}};
  result.sets = row_of(config.model.samples()).sets(config, *result.tokenizer);
  if (config.model.preference) {
    result.reference = std::make_shared<RowValues>();
  }
  if (const auto& file = config.data.distillation.file) {
    result.teacher = std::make_shared<const TeacherFile>(*file, config.training.seq_length);
  }
  if (config.data.text_task) {
    result.task_files = task_files(config, *result.tokenizer);
  }
  return result;
}

}  // namespace mpitron::train
