#pragma once
#include "cli/flags.h"
#include "tokenizers/tokenizer.h"

namespace mpitron::cli {

/// Megatron's options that choose a tokenizer.
inline void add_tokenizer_options(Flags& flags, tokenizers::TokenizerOptions& options) {
  flags.option("--tokenizer-type", options.type, tokenizers::tokenizer_types());
  flags.option("--tokenizer-model", options.tokenizer_model,
               "SentencePiece: the .model file; Hugging Face: tokenizer.json or its folder; "
               "TikTokenizer: .json list of ranks or .tiktoken file");
  flags.option("--vocab-file", options.vocab_file, "GPT-2 BPE: vocab.json; BERT: vocab.txt");
  flags.option("--merge-file", options.merge_file, "GPT-2 BPE: merges.txt");
  flags.option("--vocab-extra-ids", options.vocab_extra_ids,
               "BERT and SentencePieceTokenizer: number of <extra_id_i> tokens to add");
  flags.option("--vocab-size", options.vocab_size,
               "NullTokenizer: number of ids without eod; TikTokenizer: of all ids (131072)");
  flags.option("--tiktoken-pattern", options.tiktoken_pattern,
               "v1, v2 (special tokens first), gpt2, cl100k, o200k, llama3 (special tokens last)");
  flags.option("--tiktoken-num-special-tokens", options.tiktoken_num_special_tokens,
               "ids set aside for special tokens by v1 and v2");
  flags.option("--tiktoken-special-tokens", options.tiktoken_special_tokens,
               "names of the first special tokens of v1 and v2 (<unk> <s> </s>)");
  flags.option("--sft-tokenizer-prompt-format", options.sft_tokenizer_prompt_format,
               "SFTTokenizer: how conversations become text");
}

}  // namespace mpitron::cli
