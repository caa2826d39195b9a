#include "tokenizers/tokenizer.h"

#include "tokenizers/bert_tokenizer.h"
#include "tokenizers/byte_pair_encoding.h"
#include "tokenizers/huggingface_tokenizer.h"
#include "tokenizers/null_tokenizer.h"
#include "tokenizers/sentencepiece_tokenizer.h"
#include "tokenizers/sft_tokenizer.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace {

using Made = std::unique_ptr<Tokenizer>;
using Options = TokenizerOptions;
using Kind = SentencePieceTokenizer::Kind;

const std::string& need(const Options& options, const std::string& value, const char* option) {
  if (value.empty()) {
    throw_usage("--tokenizer-type {} needs {} FILE; {} is missing", options.type, option, option);
  }
  return value;
}

Made make_gpt2(const Options& o) {
  return std::make_unique<BytePairEncoding>(need(o, o.vocab_file, "--vocab-file"),
                                            need(o, o.merge_file, "--merge-file"));
}

Made make_null(const Options& o) {
  return std::make_unique<NullTokenizer>(o.vocab_size);
}

template <bool lower>
Made make_bert(const Options& o) {
  return std::make_unique<BertTokenizer>(
      need(o, o.vocab_file, "--vocab-file"),
      BertTokenizer::Options{.lower_case = lower, .extra_ids = o.vocab_extra_ids});
}

template <Kind kind>
Made make_sentencepiece(const Options& o) {
  return std::make_unique<SentencePieceTokenizer>(need(o, o.model, "--tokenizer-model"), kind,
                                                  kind == Kind::plain ? o.vocab_extra_ids : 0);
}

Made make_hugging_face(const Options& o) {
  return std::make_unique<HuggingFaceTokenizer>(need(o, o.model, "--tokenizer-model"));
}

Made make_sft(const Options& o) {
  return std::make_unique<SftTokenizer>(need(o, o.model, "--tokenizer-model"), o.prompt_format);
}

struct Type {
  std::string_view name;
  Made (*make)(const Options&);
};

constexpr Type kTypes[] = {
    {"GPT2BPETokenizer", make_gpt2},
    {"NullTokenizer", make_null},
    {"BertWordPieceLowerCase", make_bert<true>},
    {"BertWordPieceCase", make_bert<false>},
    {"SentencePieceTokenizer", make_sentencepiece<Kind::plain>},
    {"GPTSentencePieceTokenizer", make_sentencepiece<Kind::gpt>},
    {"Llama2Tokenizer", make_sentencepiece<Kind::llama2>},
    {"HuggingFaceTokenizer", make_hugging_face},
    {"SFTTokenizer", make_sft},
};

}  // namespace

TokenIds Tokenizer::encode(std::string_view text) const {
  TokenIds ids;
  encode(text, *make_cache(), ids);
  return ids;
}

std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options) {
  std::string names;
  for (const Type& type : kTypes) {
    if (type.name == options.type) {
      return type.make(options);
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", type.name);
  }
  throw_usage("--tokenizer-type {}: supported are {}", options.type, names);
}

void check_token_id(TokenId id, Index vocab_size) {
  if (id < 0 || id >= vocab_size) {
    throw_data("token id {} is outside the vocabulary (0 to {})", id, vocab_size - 1);
  }
}

}  // namespace mpitron::tokenizers
