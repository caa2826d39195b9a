#pragma once
#include <optional>
#include <string>
#include <vector>

#include "config/teacher_config.h"
#include "config/text_task.h"
#include "utils/numbers/shape.h"

namespace mpitron::config {

/// The order of samples: once in order (`single`) or shuffled anew in each epoch (`cyclic`).
/// `external`, a loader of the caller's, is not supported.
enum class DataloaderType { single, cyclic, external };
/// The values of --tokenizer-type.
enum class TokenizerType {
  none,
  bert_word_piece_lower_case,
  bert_word_piece_case,
  gpt2_bpe,
  sentence_piece,
  gpt_sentence_piece,
  hugging_face,
  llama2,
  tik_token,
  multimodal,
  null,
  null_multimodal,
  sft,
};

/// The tokenizer and the files that it reads.
struct TokenizerConfig {
  TokenizerType tokenizer_type = TokenizerType::none;
  std::optional<Index>
      vocab_size;  // before padding; needed by the null tokenizer (one id is added for eod)
  std::optional<Index> padded_vocab_size;
  Index make_vocab_size_divisible_by = 128;
  std::optional<std::string> vocab_file;
  std::optional<std::string> merge_file;
  Index vocab_extra_ids = 0;
  std::optional<std::string> tokenizer_model;
  std::optional<std::string> tiktoken_pattern;
  Index tiktoken_num_special_tokens = 1000;
  std::vector<std::string> tiktoken_special_tokens;
  std::string sft_tokenizer_prompt_format = "nemotron-h-aligned";
};

/// Parameters of --fim-data (Bavarian et al. 2022): texts are cut at two characters, and the middle
/// is told last.
struct FimConfig {
  double rate = 0.5;                        // share of the texts that are cut
  double spm_rate = 0.5;                    // of those, share whose suffix comes first
  std::optional<std::string> split_sample;  // token between fragments, each cut by itself
  std::optional<double> fragment_rate;
  std::string no_prefix;  // texts that begin with it stay as they are; empty: none
  std::string prefix_token, middle_token, suffix_token, pad_token, eod_token;
};

/// How documents become samples.
struct SampleConfig {
  bool reset_position_ids = false;
  bool reset_attention_mask = false;
  bool inter_document_masking = false;  // documents of the index, whatever their tokens
  bool eod_mask_loss = false;
  double mask_prob = 0.15;      // BERT, T5: share of the tokens that is masked
  double short_seq_prob = 0.1;  // BERT, T5: of a sample shorter than the sequence length
  bool create_attention_mask_in_dataloader = true;
  double mid_level_dataset_surplus = 0.005;
  std::optional<FimConfig> fim;
  bool sft = false;  // the paths are files of conversations
  bool sft_packing = false;
  bool sft_train_on_prompt = false;
  bool sft_last_turn_only = false;
  bool sft_pairs = false;  // of answers, of which one is preferred
};

/// The files that are read, how they are cut into samples, and the tokenizer. The word lists of
/// paths are as the user gave them: prefixes, or alternating weights and prefixes (the data layer
/// tells them apart).
struct DataConfig : TokenizerConfig, SampleConfig {
  // exactly one of: data_path, the per-split paths, mock_data, or nothing (tokens come from
  // elsewhere)
  std::vector<std::string> data_path;  // also filled from --data-args-path
  std::string split;  // derived: "969, 30, 1" with data_path, "1,1,1" with mock_data
  std::vector<std::string> train_data_path;  // also filled from --per-split-data-args-path
  std::vector<std::string> valid_data_path;
  std::vector<std::string> test_data_path;
  bool mock_data = false;
  std::optional<std::string> data_cache_path;
  bool mmap_bin_files = true;

  // samples
  Index seq_length = 0;
  Index seed = 1234;
  bool full_validation = false;
  bool multiple_validation_sets = false;

  DistillationFiles distillation;
  std::optional<TextTaskConfig> text_task;  // its files are read instead of all of the above

  // loading
  DataloaderType dataloader_type = DataloaderType::single;
  Index num_workers = 2;
  Index num_dataset_builder_threads = 1;
  bool data_sharding = true;

  /// Whether samples come with masks of their own: those of documents, or of
  /// conversations that share a sample.
  bool has_attention_masks() const {
    return reset_attention_mask || inter_document_masking || sft_packing || sft_pairs;
  }
};

}  // namespace mpitron::config
