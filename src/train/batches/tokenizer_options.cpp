#include "train/batches/tokenizer_options.h"

#include "tokenizers/make_tokenizer.h"
#include "utils/error.h"

namespace mpitron::train {
namespace {

/// Names that tokenizers::make_tokenizer knows.
std::string name_of(config::TokenizerType type) {
  using enum config::TokenizerType;
  switch (type) {
    case bert_word_piece_lower_case:
      return "BertWordPieceLowerCase";
    case bert_word_piece_case:
      return "BertWordPieceCase";
    case gpt2_bpe:
      return "GPT2BPETokenizer";
    case sentence_piece:
      return "SentencePieceTokenizer";
    case gpt_sentence_piece:
      return "GPTSentencePieceTokenizer";
    case hugging_face:
      return "HuggingFaceTokenizer";
    case llama2:
      return "Llama2Tokenizer";
    case tik_token:
      return "TikTokenizer";
    case null:
      return "NullTokenizer";
    case sft:
      return "SFTTokenizer";
    default:
      throw_usage(
          "--tokenizer-type is missing or of a type that this build does not train with; known are "
          "{}",
          tokenizers::tokenizer_types());
  }
}

}  // namespace

tokenizers::TokenizerOptions tokenizer_options(const config::TokenizerConfig& config) {
  return {.type = name_of(config.tokenizer_type),
          .vocab_file = config.vocab_file.value_or(""),
          .merge_file = config.merge_file.value_or(""),
          .tokenizer_model = config.tokenizer_model.value_or(""),
          .vocab_size = config.vocab_size.value_or(0),
          .vocab_extra_ids = config.vocab_extra_ids,
          .tiktoken_pattern = config.tiktoken_pattern.value_or(""),
          .tiktoken_num_special_tokens = config.tiktoken_num_special_tokens,
          .tiktoken_special_tokens = config.tiktoken_special_tokens,
          .sft_tokenizer_prompt_format = config.sft_tokenizer_prompt_format};
}

}  // namespace mpitron::train
