#include "inference/tasks/task_questions.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "data/preprocess/document_reader.h"
#include "inference/tasks/example_choice.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/text/blanks.h"

// From documents and a task to texts that a model continues: the few-shot examples in front, then
// the question, then each choice.

namespace mpitron::inference {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// Texts of WikiHow, as lm-evaluation-harness prepares them.
std::string without_marks(std::string_view marked) {
  std::string text(stripped(marked));
  replace_all(text, " [title]", ". ");
  for (std::size_t open = text.find('['); open != text.npos; open = text.find('[', open)) {
    const std::size_t close = text.find(']', open), line = text.find('\n', open);
    if (close > line || close == text.npos) {
      ++open;  // brackets of one line only
    } else {
      text.erase(open, close + 1 - open);
    }
  }
  replace_all(text, "  ", " ");
  return text;
}

std::optional<std::size_t> whole_number(const std::string& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

void check_choices(const std::vector<std::string>& choices) {
  if (choices.size() < 2) {
    throw_data("{} choices; two are needed", choices.size());
  }
  if (std::ranges::find(choices, "") != choices.end()) {
    throw_data("a choice is empty");
  }
  if (std::set<std::string>(choices.begin(), choices.end()).size() < choices.size()) {
    throw_data("a choice stands twice");
  }
}

std::size_t place_of(const std::string& answer, const std::vector<std::string>& choices) {
  const auto named = std::ranges::find(choices, answer);
  if (named != choices.end()) {
    return static_cast<std::size_t>(named - choices.begin());
  }
  const auto place = whole_number(answer);
  if (!place || *place >= choices.size()) {
    throw_data("the answer \"{}\" is none of the {} choices", answer, choices.size());
  }
  return *place;
}

/// A document without examples.
struct Parts {
  std::string text;    // of multiple inputs the right one of them
  std::string answer;  // behind it
  TaskQuestion question;
  bool inputs_differ = false;
};

/// Fills in the choices of a document.
std::vector<std::string> choices_of(const EvaluationTask& task, const TaskDocument& document) {
  std::vector<std::string> choices;
  if (task.choices_are_a_list) {
    choices = task.choices.front().list(document);
  }
  for (std::size_t i = 0; i < task.choices.size() && !task.choices_are_a_list; ++i) {
    choices.push_back(task.choices[i].text(document));
  }
  if (task.cleans) {
    std::ranges::transform(choices, choices.begin(), without_marks);
  }
  return choices;
}

/// The text is a number: choices are what stands before one continuation.
void use_as_inputs(const EvaluationTask& task, std::size_t right, Parts& parts) {
  TaskQuestion& question = parts.question;
  question.answer = place_of(std::to_string(right), question.choices);
  question.contexts = question.choices;
  question.continuations.assign(question.choices.size(), task.target_delimiter + parts.answer);
  parts.text = question.choices[question.answer];
  parts.inputs_differ = true;
}

/// Makes the question of a document, with its right answer.
Parts parts_of(const EvaluationTask& task, const TaskDocument& document) {
  Parts parts{.text = task.text.text(document), .answer = task.target.text(document)};
  TaskQuestion& question = parts.question;
  if (task.cleans) {
    parts.text = without_marks(parts.text);
  }
  question.choices = choices_of(task, document);
  if (task.generates) {
    question.target = parts.answer;
    question.contexts = {parts.text};
    question.references =
        task.about.references ? task.about.references->list(document) : std::vector{parts.answer};
    if (task.about.image) {
      question.images = {task.about.image->text(document)};
    }
    return parts;
  }
  check_choices(question.choices);
  if (const auto right = whole_number(parts.text)) {
    use_as_inputs(task, *right, parts);
    return parts;
  }
  question.answer = place_of(parts.answer, question.choices);
  parts.answer = question.choices[question.answer];
  question.contexts = {parts.text};
  for (const std::string& choice : question.choices) {
    question.continuations.push_back(task.target_delimiter + choice);
  }
  return parts;
}

/// The documents whose answers stand in front of a question.
class Examples {
 public:
  Examples(const EvaluationTask& task, const TaskExamples& wanted, const TaskDocuments& questions)
      : task_(task), count_(wanted.count) {
    if (count_ > 0 && !wanted.path.empty()) {
      own_.emplace(wanted.path);
    }
    pool_ = own_ ? &*own_ : &questions;
    const std::size_t needed = count_ + (own_ ? 0 : 1);
    if (count_ > 0 && pool_->documents.size() < needed) {
      throw_data("{} examples are wanted, {} documents are there", count_, pool_->documents.size());
    }
  }

  /// The text in front of a question.
  std::string before(const TaskDocument& question) {
    std::string text = task_.description;
    for (const std::size_t i : chosen(question)) {
      const Parts parts = parts_of(task_, pool_->documents[i]);
      text += parts.text + task_.target_delimiter + parts.answer + task_.fewshot_delimiter;
    }
    return text;
  }

 private:
  std::vector<std::size_t> chosen(const TaskDocument& question) {
    std::vector<std::size_t> places;
    const std::size_t all = pool_->documents.size();
    if (count_ == 0) {
      return places;
    }
    if (task_.first_examples) {
      for (std::size_t i = 0; i < all; ++i) {
        places.push_back(i);
      }
    } else {
      places = draw_.sample(all, own_ ? count_ : count_ + 1);
    }
    if (!own_) {
      std::erase_if(places, [&](std::size_t i) { return pool_->documents[i] == question; });
    }
    places.resize(std::min(places.size(), count_));
    return places;
  }

  const EvaluationTask& task_;
  std::size_t count_;
  std::optional<TaskDocuments> own_;
  const TaskDocuments* pool_;
  ExampleChoice draw_;
};

}  // namespace

/// Reads documents line by line; each is a JSON object.
TaskDocuments::TaskDocuments(const std::string& path) {
  data::DocumentReader reader({path}, data::TextDocuments::lines);
  data::DocumentBatch batch;
  while (reader.next(batch)) {
    for (const data::RawDocument& document : batch.documents) {
      try {
        documents.emplace_back(document.text);
      } catch (const Error& error) {
        throw_data("{}", batch.complaint(document, error.what()));
      }
      places.push_back(fmt::format("{}:{}", path, document.line));
    }
  }
  if (documents.empty()) {
    throw_data("{}: no documents", path);
  }
}

namespace {

/// Whether one choice begins another one: the longer is never likelier.
bool has_prefixes(const TaskQuestion& question) {
  std::vector<std::string> sorted = question.continuations;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted, [](const std::string& a, const std::string& b) {
           return a != b && b.starts_with(a);
         }) != sorted.end();
}

/// Warns of choices that begin others, which lm-evaluation-harness counts without a word.
void warn_of_prefixes(const std::vector<TaskQuestion>& questions,
                      const std::vector<std::string>& places) {
  const auto first = std::ranges::find_if(questions, has_prefixes);
  if (first != questions.end()) {
    log::warning(
        "{}: a choice begins another one, which is never likelier as a whole ({} of {} questions); "
        "the accuracy by length can find it",
        places[static_cast<std::size_t>(first - questions.begin())],
        std::ranges::count_if(questions, has_prefixes), questions.size());
  }
}

}  // namespace

/// Makes the questions with their examples in front; the same seed gives the same examples as
/// lm-evaluation-harness.
std::vector<TaskQuestion> make_questions(const EvaluationTask& task, const std::string& path,
                                         const TaskExamples& examples) {
  if (task.about.image && examples.count > 0) {
    throw_usage("{}: questions about images have no examples in front; num_fewshot 0 is allowed",
                task.name);
  }
  const TaskDocuments own(path);
  Examples before(task, examples, own);
  std::vector<TaskQuestion> questions;
  for (std::size_t i = 0; i < own.documents.size(); ++i) {
    try {
      const std::string front = before.before(own.documents[i]);
      TaskQuestion question = parts_of(task, own.documents[i]).question;
      for (std::string& context : question.contexts) {
        context = front + context;
      }
      for (std::string& image : question.images) {
        image = (std::filesystem::path(path).parent_path() / image).string();
      }
      questions.push_back(std::move(question));
    } catch (const Error& error) {
      throw_data("{}: {}", own.places[i], error.what());
    }
  }
  warn_of_prefixes(questions, own.places);
  return questions;
}

}  // namespace mpitron::inference
