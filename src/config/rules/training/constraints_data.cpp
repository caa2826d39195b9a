#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"
#include "config/values/option_values.h"

// Rules on sources of data and on tokenizers.

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

constexpr std::array kDataRules = std::to_array<Constraint>({
    {"E060", "one_data_source", "one of --data-path, the per-split paths, --mock-data",
     "data-path train-data-path valid-data-path test-data-path mock-data", "A run reads one blend.",
     one_data_source},
    {"E061", "one_spelling_of_data", "paths are given as words or as a file, not both",
     "data-path data-args-path train-data-path per-split-data-args-path",
     "One of the two would be ignored.", one_spelling_of_data},
    {"E062", "split_form", "--split has up to three weights, for data that are not split already",
     "split data-path", "The weights of training, validation and test are normalised by their sum.",
     split_form},
    {"E063", "validation_sets", "--multiple-validation-sets needs --full-validation",
     "multiple-validation-sets full-validation", "Each set is evaluated as a whole.",
     validation_sets},
    {"E064", "tokenizer_files", "a tokenizer needs its vocabulary",
     "tokenizer-type vocab-size vocab-file merge-file tokenizer-model",
     "GPT2BPETokenizer reads vocab.json and merges.txt; NullTokenizer knows only the number of "
     "its ids.",
     tokenizer_files},
});

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
  return kDataRules;
}

}  // namespace mpitron::config
