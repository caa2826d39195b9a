#include "config/resolve/resolve.h"

// Options on corpora, samples and tokenizers as a DataConfig.

namespace mpitron::config {
namespace {

/// Turns a word that was checked against the table's choices into the type; "" is a run that names
/// no tokenizer.
TokenizerType tokenizer_type(const OptionValues& v) {
  using enum TokenizerType;
  return pick<TokenizerType>(v.maybe_text("tokenizer_type").value_or(""),
                             {{"", none},
                              {"BertWordPieceLowerCase", bert_word_piece_lower_case},
                              {"BertWordPieceCase", bert_word_piece_case},
                              {"GPT2BPETokenizer", gpt2_bpe},
                              {"SentencePieceTokenizer", sentence_piece},
                              {"GPTSentencePieceTokenizer", gpt_sentence_piece},
                              {"HuggingFaceTokenizer", hugging_face},
                              {"Llama2Tokenizer", llama2},
                              {"TikTokenizer", tik_token},
                              {"MultimodalTokenizer", multimodal},
                              {"NullTokenizer", null},
                              {"NullMultimodalTokenizer", null_multimodal},
                              {"SFTTokenizer", sft}});
}

/// Returns nothing without --fim-data.
std::optional<FimConfig> fim(const OptionValues& v) {
  if (!v.flag("fim_data")) {
    return {};
  }
  return FimConfig{.rate = v.real("fim_rate"),
                   .spm_rate = v.real("fim_spm_rate"),
                   .split_sample = v.maybe_text("fim_split_sample"),
                   .fragment_rate = v.maybe_real("fim_fragment_rate"),
                   .no_prefix = v.maybe_text("fim_no_prefix").value_or(""),
                   .prefix_token = v.text("fim_prefix_token"),
                   .middle_token = v.text("fim_middle_token"),
                   .suffix_token = v.text("fim_suffix_token"),
                   .pad_token = v.text("fim_pad_token"),
                   .eod_token = v.text("fim_eod_token")};
}

}  // namespace

/// Keeps weights and prefixes of blends together as words; the data layer pairs them.
DataConfig resolve_data(const OptionValues& v) {
  DataConfig d;
  d.data_path = v.words("data_path");
  d.split = v.maybe_text("split").value_or("");
  d.train_data_path = v.words("train_data_path");
  d.valid_data_path = v.words("valid_data_path");
  d.test_data_path = v.words("test_data_path");
  d.mock_data = v.flag("mock_data");
  d.data_cache_path = v.maybe_text("data_cache_path");
  d.mmap_bin_files = v.flag("mmap_bin_files");
  d.seq_length = v.maybe_integer("seq_length").value_or(0);
  d.seed = v.integer("seed");
  d.reset_position_ids = v.flag("reset_position_ids");
  d.reset_attention_mask = v.flag("reset_attention_mask");
  d.inter_document_masking = v.flag("dataloader_inter_document_masking");
  d.eod_mask_loss = v.flag("eod_mask_loss");
  d.mask_prob = v.real("mask_prob");
  d.short_seq_prob = v.real("short_seq_prob");
  d.create_attention_mask_in_dataloader = v.flag("create_attention_mask_in_dataloader");
  d.mid_level_dataset_surplus = v.real("mid_level_dataset_surplus");
  d.full_validation = v.flag("full_validation");
  d.multiple_validation_sets = v.flag("multiple_validation_sets");
  d.fim = fim(v);
  d.sft = v.flag("sft");
  d.sft_packing = v.flag("sft_packing");
  d.sft_train_on_prompt = v.flag("sft_train_on_prompt");
  d.sft_last_turn_only = v.flag("sft_last_turn_only");
  d.sft_pairs = v.flag("dpo");
  d.distillation = {.file = v.maybe_text("teacher_file"),
                    .output = v.maybe_text("teacher_output"),
                    .top_k = v.integer("teacher_top_k")};
  d.dataloader_type =
      pick<DataloaderType>(v.text("dataloader_type"), {{"single", DataloaderType::single},
                                                       {"cyclic", DataloaderType::cyclic},
                                                       {"external", DataloaderType::external}});
  d.num_workers = v.integer("num_workers");
  d.num_dataset_builder_threads = v.integer("num_dataset_builder_threads");
  d.data_sharding = v.flag("data_sharding");
  d.tokenizer_type = tokenizer_type(v);
  d.vocab_size = v.maybe_integer("vocab_size");
  d.padded_vocab_size = v.maybe_integer("padded_vocab_size");
  d.make_vocab_size_divisible_by = v.integer("make_vocab_size_divisible_by");
  d.vocab_file = v.maybe_text("vocab_file");
  d.merge_file = v.maybe_text("merge_file");
  d.vocab_extra_ids = v.integer("vocab_extra_ids");
  d.tokenizer_model = v.maybe_text("tokenizer_model");
  d.tiktoken_pattern = v.maybe_text("tiktoken_pattern");
  d.tiktoken_num_special_tokens = v.integer("tiktoken_num_special_tokens");
  d.tiktoken_special_tokens = v.words("tiktoken_special_tokens");
  d.sft_tokenizer_prompt_format = v.text("sft_tokenizer_prompt_format");
  return d;
}

}  // namespace mpitron::config
