#include "inference/tasks/task_file.h"

#include <algorithm>
#include <set>
#include <span>

#include <yaml-cpp/yaml.h>

#include "utils/error.h"

// Task files in lm-evaluation-harness's form. A key that would change what is measured and is not
// known here is an error; keys that only say where documents come from are passed over.

namespace mpitron::inference {
namespace {

constexpr const char* kKeys[] = {
    "task",         "output_type",       "doc_to_text",       "doc_to_choice",     "doc_to_target",
    "doc_to_image", "doc_to_references", "target_delimiter",  "fewshot_delimiter", "description",
    "num_fewshot",  "fewshot_config",    "generation_kwargs", "filter_list",       "metric_list",
    "clean"};
/// Keys that say where lm-evaluation-harness finds the documents, and what it lists; they change no
/// measure.
constexpr const char* kUnread[] = {"dataset_path",
                                   "dataset_name",
                                   "dataset_kwargs",
                                   "training_split",
                                   "validation_split",
                                   "test_split",
                                   "fewshot_split",
                                   "metadata",
                                   "tag",
                                   "task_alias",
                                   "group",
                                   "should_decontaminate",
                                   "doc_to_decontamination_query",
                                   "repeats"};

constexpr const char* kGenerated[] = {"exact_match",      "f1",   "bleu", "vqa_accuracy",
                                      "relaxed_accuracy", "cider"};

bool contains(std::span<const char* const> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Keys of a map, and of what is in it, stand once: the library would take one of them in silence.
void check_single_keys(const YAML::Node& node) {
  std::set<std::string> seen;
  for (const auto& entry : node) {
    if (node.IsMap() && !seen.insert(entry.first.as<std::string>()).second) {
      throw_data("line {}: the key {} stands twice", entry.first.Mark().line + 1,
                 entry.first.as<std::string>());
    }
    check_single_keys(node.IsMap() ? entry.second : YAML::Node(entry));
  }
}

/// Refuses keys that change what is measured and are not known here; a measure that ignores one
/// would look right and be another.
void check_keys(const YAML::Node& root) {
  for (const auto& entry : root) {
    const auto key = entry.first.as<std::string>();
    if (!contains(kKeys, key) && !contains(kUnread, key)) {
      std::string known;
      for (const char* name : kKeys) {
        known += (known.empty() ? "" : ", ") + std::string(name);
      }
      throw_data("unknown key {}; known are {}, and those of data sets", key, known);
    }
  }
  for (const char* key : {"task", "doc_to_text", "doc_to_target"}) {
    if (!root[key]) {
      throw_data("the key {} is missing", key);
    }
  }
}

/// Text of a key; those of functions (`!function`) cannot be read.
std::string text_of(const YAML::Node& node, const char* key, const std::string& otherwise = "") {
  if (!node[key] || node[key].IsNull()) {
    return otherwise;
  }
  if (node[key].Tag() == "!function") {
    throw_data("{}: Python functions cannot be read; write a Jinja template", key);
  }
  return node[key].as<std::string>();
}

std::optional<DocumentTemplate> template_of(const YAML::Node& node, const char* key) {
  return node[key] ? std::optional(DocumentTemplate(text_of(node, key))) : std::nullopt;
}

/// Reads the choices: a list in the file, or a template that gives one.
void read_choices(const YAML::Node& root, EvaluationTask& task) {
  const YAML::Node choices = root["doc_to_choice"];
  if (!choices) {
    return;
  }
  if (choices.IsSequence()) {
    for (const auto& choice : choices) {
      task.choices.emplace_back(choice.as<std::string>());
    }
  } else {
    task.choices.emplace_back(text_of(root, "doc_to_choice"));
    task.choices_are_a_list = true;
  }
}

void read_generation(const YAML::Node& root, EvaluationTask& task) {
  if (const YAML::Node settings = root["generation_kwargs"]) {
    for (const auto& until : settings["until"]) {
      task.until.push_back(until.as<std::string>());
    }
    if (settings["max_gen_toks"]) {
      task.max_tokens = settings["max_gen_toks"].as<long>();
    }
    if (settings["do_sample"] && settings["do_sample"].as<bool>()) {
      throw_data("generation_kwargs: do_sample: answers are the likeliest ones; take false");
    }
  }
  if (task.max_tokens < 1) {
    throw_data("generation_kwargs: max_gen_toks {}: at least 1 is needed", task.max_tokens);
  }
}

AnswerFilter filter_of(const YAML::Node& node) {
  AnswerFilter filter{.name = node["name"].as<std::string>()};
  for (const auto& step : node["filter"]) {
    const auto function = step["function"].as<std::string>();
    if (function == "regex") {
      filter.pattern = python_regex(step["regex_pattern"].as<std::string>());
      filter.extracts = true;
      filter.select = step["group_select"] ? step["group_select"].as<long>() : 0;
    } else if (function != "take_first") {
      throw_data("filter_list: function {}; known are regex, take_first", function);
    }
  }
  return filter;
}

void read_comparison(const YAML::Node& metric, AnswerComparison& comparison) {
  const auto flag = [&](const char* key) { return metric[key] && metric[key].as<bool>(); };
  comparison.ignore_case = flag("ignore_case");
  comparison.ignore_punctuation = flag("ignore_punctuation");
  for (const auto& pattern : metric["regexes_to_ignore"]) {
    comparison.ignored.push_back(python_regex(pattern.as<std::string>()));
  }
}

void read_metrics(const YAML::Node& root, EvaluationTask& task) {
  for (const auto& metric : root["metric_list"]) {
    const auto name = metric["metric"].as<std::string>();
    const bool known =
        task.generates ? contains(kGenerated, name) : name == "acc" || name == "acc_norm";
    if (!known) {
      throw_data("metric_list: {}; known of {}", name,
                 task.generates ? "generate_until are exact_match, f1, bleu, vqa_accuracy, "
                                  "relaxed_accuracy and cider"
                                : "multiple_choice are acc and acc_norm");
    }
    task.metrics.push_back(name);
    if (name == "exact_match") {
      read_comparison(metric, task.comparison);
    }
  }
}

/// Reads one task; each part has its function, and what does not fit the output type is refused by
/// name.
EvaluationTask task_of(const YAML::Node& root) {
  check_keys(root);
  const std::string output = text_of(root, "output_type", "multiple_choice");
  if (output != "multiple_choice" && output != "generate_until") {
    throw_data("output_type: {}; known are multiple_choice, generate_until", output);
  }
  EvaluationTask task{.name = root["task"].as<std::string>(),
                      .description = text_of(root, "description"),
                      .generates = output == "generate_until",
                      .text = DocumentTemplate(text_of(root, "doc_to_text")),
                      .target = DocumentTemplate(text_of(root, "doc_to_target"))};
  read_choices(root, task);
  if (!task.generates && task.choices.empty()) {
    throw_data("the key doc_to_choice is missing");
  }
  task.target_delimiter = text_of(root, "target_delimiter", " ");
  task.fewshot_delimiter = text_of(root, "fewshot_delimiter", "\n\n");
  task.examples = root["num_fewshot"] ? root["num_fewshot"].as<std::size_t>() : 0;
  if (const YAML::Node sampler = root["fewshot_config"]) {
    const std::string name = text_of(sampler, "sampler", "default");
    if (name != "first_n" && name != "default") {
      throw_data("fewshot_config: sampler {}; known are first_n, default", name);
    }
    task.first_examples = name == "first_n";
  }
  const std::string clean = text_of(root, "clean");
  if (!clean.empty() && clean != "wikihow") {
    throw_data("clean: {}; known is wikihow", clean);
  }
  task.cleans = !clean.empty();
  task.about = {template_of(root, "doc_to_image"), template_of(root, "doc_to_references")};
  if ((task.about.image || task.about.references) && !task.generates) {
    throw_data("doc_to_image, doc_to_references: output_type generate_until is needed");
  }
  read_generation(root, task);
  read_metrics(root, task);
  for (const auto& filter : root["filter_list"]) {
    task.filters.push_back(filter_of(filter));
  }
  if (task.filters.empty()) {
    task.filters.emplace_back();
  }
  return task;
}

}  // namespace

bool EvaluationTask::measures(const std::string& metric) const {
  return std::ranges::count(metrics, metric) > 0;
}

EvaluationTask EvaluationTask::read(const std::filesystem::path& file) {
  try {
    const YAML::Node root = YAML::LoadFile(file);
    check_single_keys(root);
    return task_of(root);
  } catch (const std::exception& error) {
    throw_data("{}: {}", file.string(), error.what());
  }
}

}  // namespace mpitron::inference
