#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::inference {

/// A line of a task's data: a JSON object.
class TaskDocument {
 public:
  /// Error(data) for anything else.
  explicit TaskDocument(std::string_view json);
  ~TaskDocument();
  TaskDocument(TaskDocument&&) noexcept;
  TaskDocument& operator=(TaskDocument&&) noexcept;
  bool operator==(const TaskDocument& other) const;

 private:
  friend class DocumentTemplate;
  struct Content;
  std::unique_ptr<Content> content_;
};

/// Text of a document as a task file names it: one of its fields, or a template over them
/// ("Question: {{question}}\nAnswer:"), as lm-evaluation-harness has them; of Jinja it has
/// expressions (field_expression.h).
class DocumentTemplate {
 public:
  DocumentTemplate() = default;
  explicit DocumentTemplate(std::string text);

  /// Error(data) where a field is missing or the template fails.
  std::string text(const TaskDocument& document) const;
  /// Returns the value of a template that is one expression, which is a list.
  std::vector<std::string> list(const TaskDocument& document) const;

 private:
  std::string source_;
};

}  // namespace mpitron::inference
