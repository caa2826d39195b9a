#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "inference/tasks/answer_filter.h"
#include "inference/tasks/document_template.h"

namespace mpitron::inference {

/// Settings of a task about images.
struct AboutImages {
  std::optional<DocumentTemplate> image;       // a path below the data's folder
  std::optional<DocumentTemplate> references;  // all right answers
};

/// A task as data, a YAML file with lm-evaluation-harness's keys: `output_type` multiple_choice or
/// generate_until, `doc_to_text`, `doc_to_choice`, `doc_to_target`, delimiters, `num_fewshot`,
/// `generation_kwargs`, `filter_list`, ... Keys that say where its documents come from are not
/// read. `clean: wikihow` stands for the function of HellaSwag. Of ours are `doc_to_image`, a path,
/// and `doc_to_references`, a list of right answers.
struct EvaluationTask {
  std::string name, description;
  bool generates = false;
  DocumentTemplate text, target;
  /// Choices: one template each, or one whose value is a list.
  std::vector<DocumentTemplate> choices;
  bool choices_are_a_list = false;
  std::string target_delimiter = " ", fewshot_delimiter = "\n\n";
  std::size_t examples = 0;     // in front of the question
  bool first_examples = false;  // of their file; else drawn
  bool cleans = false;
  // of generated answers
  std::vector<std::string> until;
  long max_tokens = 256;
  std::vector<AnswerFilter> filters;
  AnswerComparison comparison;
  std::vector<std::string> metrics;  // of the answers as they are: f1, bleu, vqa_accuracy, ...
  AboutImages about;

  bool measures(const std::string& metric) const;

  /// Error(data) names the file and the key that is missing, unknown or of another kind.
  static EvaluationTask read(const std::filesystem::path& file);
};

}  // namespace mpitron::inference
