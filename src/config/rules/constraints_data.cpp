#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"
#include "config/values/option_values.h"

// Rules on sources of data, tokenizers, conversations and fill-in-the-middle.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// The paths of the three splits count as one source.
Result one_data_source(const Facts& f) {
  const bool splits = f.values.has("train_data_path") || f.values.has("valid_data_path") ||
                      f.values.has("test_data_path");
  const int sources = f.run.data.mock_data + f.values.has("data_path") + splits;
  return sources > 1 ? Violation{fmt::format("{} sources", sources), "--data-path"} : Result();
}

Result one_spelling_of_data(const Facts& f) {
  const bool words = f.values.given("data_path") && f.values.given("data_args_path");
  const bool lists = f.values.given("per_split_data_args_path") &&
                     (f.values.given("train_data_path") || f.values.given("valid_data_path") ||
                      f.values.given("test_data_path"));
  return words || lists ? Violation{"paths are given both as words and as a file", ""} : Result();
}

/// Returns the weights of a split, which are taken out of the text as the reference does: whatever
/// is no digit and no point separates. Empty if one of them is no number.
std::vector<double> split_weights(std::string text) {
  const auto separates = [](char c) { return (c < '0' || c > '9') && c != '.'; };
  std::replace_if(text.begin(), text.end(), separates, ' ');
  std::vector<double> weights;
  for (const std::string& word : split_words(text)) {
    const std::optional<double> weight = read_real(word);
    if (!weight) {
      return {};
    }
    weights.push_back(*weight);
  }
  return weights;
}

/// The default split stands beside per-split paths, and is ignored; one that the user gave is an
/// error.
Result split_form(const Facts& f) {
  if (!f.values.has("split")) {
    return {};
  }
  const std::vector<double> weights = split_weights(f.values.text("split"));
  double sum = 0;
  for (const double weight : weights) {
    sum += weight;
  }
  const bool splits = f.values.has("train_data_path") || f.values.has("valid_data_path") ||
                      f.values.has("test_data_path");
  if (weights.size() <= 3 && sum > 0 && !(splits && f.values.given("split"))) {
    return {};
  }
  return Violation{
      splits ? "the data are given per split already" : fmt::format("'{}'", f.values.text("split")),
      splits ? "" : "--split 969,30,1"};
}

Result validation_sets(const Facts& f) {
  return f.run.training.multiple_validation_sets && !f.run.training.full_validation
             ? Violation{"--full-validation is not given", "--full-validation"}
             : Result();
}

Result tokenizer_files(const Facts& f) {
  return f.values.given("tokenizer_type") ? missing_tokenizer_files(f.run.data) : Result();
}

Result conversations(const Facts& f) {
  const DataConfig& d = f.run.data;
  if (!d.sft) {
    return {};
  }
  if (d.tokenizer_type != TokenizerType::sft) {
    return Violation{"another tokenizer", "--tokenizer-type SFTTokenizer"};
  }
  return d.mock_data ? Violation{"--mock-data has no conversations", "--data-path FILE.jsonl"}
                     : Result();
}

Result conversations_are_whole(const Facts& f) {
  const DataConfig& d = f.run.data;
  if (!d.sft) {
    return {};
  }
  const char* given = d.reset_position_ids       ? "--reset-position-ids given"
                      : d.reset_attention_mask   ? "--reset-attention-mask given"
                      : d.inter_document_masking ? "--dataloader-inter-document-masking given"
                      : d.eod_mask_loss          ? "--eod-mask-loss given"
                                                 : nullptr;
  return given != nullptr ? Violation{given, ""} : Result();
}

/// Checks that rates are shares, that the suffix-first rate is not 0, and that text to be split
/// into fragments has a rate of them.
Result fim_rates(const Facts& f) {
  if (!f.run.data.fim) {
    return {};
  }
  const FimConfig& fim = *f.run.data.fim;
  const auto share = [](double rate) { return rate >= 0 && rate <= 1; };
  if (fim.split_sample && !fim.fragment_rate) {
    return Violation{"--fim-split-sample without --fim-fragment-rate", "--fim-fragment-rate 0.5"};
  }
  return share(fim.rate) && share(fim.spm_rate) && fim.spm_rate > 0 &&
                 share(fim.fragment_rate.value_or(0))
             ? Result()
             : Violation{fmt::format("rates {}, {}, {}", fim.rate, fim.spm_rate,
                                     fim.fragment_rate.value_or(0)),
                         "--fim-rate 0.5 --fim-spm-rate 0.5"};
}

/// Refuses sources that are no indexed corpus, and masks by documents, whose ends move when a text
/// is rearranged.
Result fim_of_texts(const Facts& f) {
  const DataConfig& d = f.run.data;
  if (!d.fim) {
    return {};
  }
  const char* given = d.sft                      ? "--sft given"
                      : d.mock_data              ? "--mock-data given"
                      : d.inter_document_masking ? "--dataloader-inter-document-masking given"
                                                 : nullptr;
  return given != nullptr ? Violation{given, "--data-path"} : Result();
}

}  // namespace

std::optional<Violation> missing_tokenizer_files(const DataConfig& d) {
  if (d.tokenizer_type == TokenizerType::null && !d.vocab_size) {
    return Violation{"NullTokenizer without --vocab-size", "--vocab-size N"};
  }
  if (d.tokenizer_type == TokenizerType::gpt2_bpe && (!d.vocab_file || !d.merge_file)) {
    return Violation{"GPT2BPETokenizer without both files",
                     "--vocab-file vocab.json --merge-file merges.txt"};
  }
  const bool is_bert = d.tokenizer_type == TokenizerType::bert_word_piece_lower_case ||
                       d.tokenizer_type == TokenizerType::bert_word_piece_case;
  if (is_bert && !d.vocab_file) {
    return Violation{"BertWordPiece without its vocabulary", "--vocab-file vocab.txt"};
  }
  const bool has_model = d.tokenizer_type == TokenizerType::sentence_piece ||
                         d.tokenizer_type == TokenizerType::gpt_sentence_piece ||
                         d.tokenizer_type == TokenizerType::llama2 ||
                         d.tokenizer_type == TokenizerType::sft ||
                         d.tokenizer_type == TokenizerType::hugging_face;
  if (has_model && !d.tokenizer_model) {
    return Violation{"a tokenizer of a model file without that file", "--tokenizer-model FILE"};
  }
  return {};
}

std::span<const Constraint> data_constraints() {
  static constexpr std::array kRules = std::to_array<Constraint>({
      {"E060", "one_data_source", "one of --data-path, the per-split paths, --mock-data",
       "data-path train-data-path valid-data-path test-data-path mock-data",
       "A run reads one blend.", one_data_source},
      {"E061", "one_spelling_of_data", "paths are given as words or as a file, not both",
       "data-path data-args-path train-data-path per-split-data-args-path",
       "One of the two would be ignored.", one_spelling_of_data},
      {"E062", "split_form", "--split has up to three weights, for data that are not split already",
       "split data-path",
       "The weights of training, validation and test are normalised by their sum.", split_form},
      {"E063", "validation_sets", "--multiple-validation-sets needs --full-validation",
       "multiple-validation-sets full-validation", "Each set is evaluated as a whole.",
       validation_sets},
      {"E064", "tokenizer_files", "a tokenizer needs its vocabulary",
       "tokenizer-type vocab-size vocab-file merge-file tokenizer-model",
       "GPT2BPETokenizer reads vocab.json and merges.txt; NullTokenizer knows only the number of "
       "its ids.",
       tokenizer_files},
      {"E280", "fim_rates",
       "rates of --fim-data are from 0 to 1, --fim-spm-rate above 0, fragments have one",
       "fim-data fim-rate fim-spm-rate fim-split-sample fim-fragment-rate",
       "They are shares of the texts; the reference refuses the 0, too.", fim_rates},
      {"E281", "fim_of_texts",
       "--fim-data reads corpora, without --dataloader-inter-document-masking",
       "fim-data sft mock-data dataloader-inter-document-masking",
       "Texts are cut anew, so that documents of the index no longer say where they begin.",
       fim_of_texts},
      {"E159", "conversations", "--sft reads files of conversations with SFTTokenizer",
       "sft tokenizer-type data-path mock-data",
       "The tokenizer's prompt format makes text of the turns and knows which of them is learned.",
       conversations},
      {"E160", "conversations_are_whole",
       "--sft excludes --reset-position-ids, --reset-attention-mask and --eod-mask-loss",
       "sft reset-position-ids reset-attention-mask eod-mask-loss",
       "A sample is one conversation; the reference ignores these flags then.",
       conversations_are_whole},
  });
  return kRules;
}

}  // namespace mpitron::config
