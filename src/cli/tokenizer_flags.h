#pragma once
#include "cli/flags.h"
#include "tokenizers/tokenizer.h"

namespace mpitron::cli {

/// Megatron's options that choose a tokenizer.
inline void add_tokenizer_options(Flags& flags, tokenizers::TokenizerOptions& options) {
  flags.option("--tokenizer-type", options.type,
               "GPT2BPETokenizer, BertWordPieceLowerCase, BertWordPieceCase, "
               "SentencePieceTokenizer, GPTSentencePieceTokenizer, Llama2Tokenizer, "
               "HuggingFaceTokenizer, SFTTokenizer or NullTokenizer");
  flags.option("--tokenizer-model", options.model,
               "SentencePiece: the .model file; Hugging Face: tokenizer.json or its folder");
  flags.option("--vocab-file", options.vocab_file, "GPT-2 BPE: vocab.json; BERT: vocab.txt");
  flags.option("--merge-file", options.merge_file, "GPT-2 BPE: merges.txt");
  flags.option("--vocab-extra-ids", options.vocab_extra_ids,
               "BERT and SentencePieceTokenizer: number of <extra_id_i> tokens to add");
  flags.option("--sft-tokenizer-prompt-format", options.prompt_format,
               "SFTTokenizer: how conversations become text");
  flags.option("--vocab-size", options.vocab_size, "NullTokenizer: number of ids without eod");
}

}  // namespace mpitron::cli
