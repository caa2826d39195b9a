// Makes the texts of a document from a task file's template: names of fields, or small expressions.
#include "inference/tasks/document_template.h"

#include <nlohmann/json.hpp>

#include "inference/tasks/field_expression.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace {

using UnorderedJson = nlohmann::json;

std::string text_of(const UnorderedJson& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<std::string> texts_of(const UnorderedJson& value) {
  if (!value.is_array()) {
    throw_data("a list is needed, {} is none", value.dump());
  }
  std::vector<std::string> texts;
  for (const UnorderedJson& item : value) {
    texts.push_back(text_of(item));
  }
  return texts;
}

}  // namespace

struct TaskDocument::Content {
  UnorderedJson json;
};

TaskDocument::TaskDocument(std::string_view json)
    : content_(std::make_unique<Content>(Content{UnorderedJson::parse(json, nullptr, false)})) {
  if (!content_->json.is_object()) {
    throw_data("no JSON object");
  }
}
TaskDocument::~TaskDocument() = default;
TaskDocument::TaskDocument(TaskDocument&&) noexcept = default;
TaskDocument& TaskDocument::operator=(TaskDocument&&) noexcept = default;

bool TaskDocument::operator==(const TaskDocument& other) const {
  return content_->json == other.content_->json;
}

DocumentTemplate::DocumentTemplate(std::string text) : source_(std::move(text)) {}

/// Returns a field's value, or fills a template's expressions in.
std::string DocumentTemplate::text(const TaskDocument& document) const {
  const UnorderedJson& json = document.content_->json;
  if (json.contains(source_)) {
    return text_of(json[source_]);
  }
  std::string result;
  std::size_t at = 0;
  for (std::size_t open = source_.find("{{"); open != source_.npos; open = source_.find("{{", at)) {
    const std::size_t close = source_.find("}}", open);
    if (close == source_.npos) {
      throw_data("{{{{ without }}}} in \"{}\"", source_);
    }
    result += source_.substr(at, open - at);
    result += text_of(field_value(source_.substr(open + 2, close - open - 2), json));
    at = close + 2;
  }
  return result + source_.substr(at);
}

std::vector<std::string> DocumentTemplate::list(const TaskDocument& document) const {
  const UnorderedJson& json = document.content_->json;
  if (json.contains(source_)) {
    return texts_of(json[source_]);
  }
  if (!source_.starts_with("{{") || source_.find("}}") != source_.size() - 2) {
    throw_data("\"{}\": a list of choices is one expression, {{{{...}}}}, or a field", source_);
  }
  return texts_of(field_value(source_.substr(2, source_.size() - 4), json));
}

}  // namespace mpitron::inference
