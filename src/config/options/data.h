#pragma once

#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on corpora and how they become samples, the group `data and dataloader` of Megatron's
// arguments.py.
inline constexpr std::array kDataAndDataloader = {
    text("data-path", none, works,
         "prefix of a .bin/.idx pair, or WEIGHT PREFIX pairs, or several prefixes")
        .any_list(),
    text("split", none, works, "relative sizes of training, validation and test; 969, 30, 1"),
    text("train-data-path", none, works, "training data on its own, written as --data-path")
        .any_list(),
    text("valid-data-path", none, works, "validation data on its own").any_list(),
    text("test-data-path", none, works, "test data on its own").any_list(),
    text("data-args-path", none, works, "file with the words of --data-path"),
    text("per-split-data-args-path", none, works, "JSON file with the lists train, valid and test"),
    text("data-cache-path", none, works, "folder for the cached sample indices"),
    flag_off("no-mmap-bin-files", "mmap_bin_files", works,
             "read .bin files by calls instead of mapping them"),
    flag("mock-data", works, "synthetic documents instead of data"),
    integer("seq-length", none, works, "tokens per sample"),
    integer("encoder-seq-length", none, works,
            "other name of --seq-length; give only one of the two"),
    integer("decoder-seq-length", none, works, "tokens per sample of the T5 decoder"),
    integer("retriever-seq-length", "256", later, "tokens per passage of the retriever"),
    real("sample-rate", "1.0", unneeded, "only evidence of retrieval is thinned out"),
    real("mask-prob", "0.15", works, "BERT and T5: share of the tokens that is masked"),
    real("short-seq-prob", "0.1", works,
         "BERT: probability of a sample shorter than the sequence length"),
    integer("num-workers", "2", neutral, "threads that prepare batches; the order never changes"),
    flag("reset-position-ids", works, "positions start again behind each end of document"),
    flag("reset-attention-mask", works, "tokens see only their own document"),
    flag("eod-mask-loss", works, "no loss on the token behind an end of document"),
    flag_off("no-create-attention-mask-in-dataloader", "create_attention_mask_in_dataloader",
             neutral, "masks are made inside the attention kernel"),
    integer("num-dataset-builder-threads", "1", neutral, "threads that build sample indices"),
    text("object-storage-cache-path", none, later, "cache for data read from object storage")
        .also("s3-cache-path"),
    real("mid-level-dataset-surplus", "0.005", works,
         "share of extra samples taken from each member of a blend"),
};

// Options that choose a tokenizer, the group `tokenizer`; src/tokenizers reads them.
inline constexpr std::array kTokenizer = {
    integer("vocab-size", none, works, "vocabulary before padding; the null tokenizer needs it"),
    integer("padded-vocab-size", none, works, "vocabulary after padding, instead of computing it"),
    text("vocab-file", none, works, "vocabulary of the tokenizer"),
    text("merge-file", none, works, "merge rules of byte-level BPE"),
    integer("vocab-extra-ids", "0", works, "sentinel tokens to add for T5"),
    text("tokenizer-type", none, works, "kind of tokenizer")
        .choose("BertWordPieceLowerCase BertWordPieceCase GPT2BPETokenizer SentencePieceTokenizer "
                "GPTSentencePieceTokenizer HuggingFaceTokenizer Llama2Tokenizer TikTokenizer "
                "MultimodalTokenizer NullTokenizer NullMultimodalTokenizer SFTTokenizer")
        .works_with("BertWordPieceLowerCase BertWordPieceCase GPT2BPETokenizer "
                    "SentencePieceTokenizer GPTSentencePieceTokenizer HuggingFaceTokenizer "
                    "Llama2Tokenizer NullTokenizer SFTTokenizer TikTokenizer"),
    text("tokenizer-model", none, works, "file (Hugging Face: or folder) of the tokenizer model"),
    text("tiktoken-pattern", none, works, "splitting pattern: v1, v2, gpt2, cl100k, o200k, llama3"),
    integer("tiktoken-num-special-tokens", "1000", works, "ids set aside for special tokens"),
    text("tiktoken-special-tokens", none, works, "names of the special tokens").list(),
};

}  // namespace mpitron::config::rows
