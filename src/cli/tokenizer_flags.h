#pragma once
#include "cli/flags.h"
#include "tokenizers/tokenizer.h"

namespace mpitron::cli {

/// Megatron's options that choose a tokenizer.
inline void add_tokenizer_options(Flags& flags, tokenizers::TokenizerOptions& options) {
  flags.option("--tokenizer-type", options.type, tokenizers::tokenizer_types());
  flags.option("--vocab-file", options.vocab_file, "GPT-2 BPE: vocab.json");
  flags.option("--merge-file", options.merge_file, "GPT-2 BPE: merges.txt");
  flags.option("--vocab-size", options.vocab_size,
               "NullTokenizer: number of ids without eod; TikTokenizer: of all ids (131072)");
  flags.option("--tokenizer-model", options.tokenizer_model,
               "TikTokenizer: .json list of ranks or .tiktoken file");
  flags.option("--tiktoken-pattern", options.tiktoken_pattern,
               "v1, v2 (special tokens first), gpt2, cl100k, o200k, llama3 (special tokens last)");
  flags.option("--tiktoken-num-special-tokens", options.tiktoken_num_special_tokens,
               "ids set aside for special tokens by v1 and v2");
  flags.option("--tiktoken-special-tokens", options.tiktoken_special_tokens,
               "names of the first special tokens of v1 and v2 (<unk> <s> </s>)");
}

}  // namespace mpitron::cli
