#pragma once
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "utils/numbers/shape.h"

namespace mpitron::tokenizers {

/// A value inside a JSON file that knows its path, so that every complaint names the place. Views
/// the document, which must live on. All accessors throw Error(data) for a value of another type.
class JsonView {
 public:
  const std::string& path() const { return path_; }
  bool is_null() const;
  bool is_text() const;
  bool is_object() const;
  bool is_array() const;
  bool has(const char* key) const;  // and it is not null

  /// Returns a member; Error(data) where it is missing or null.
  JsonView at(const char* key) const;
  /// Returns a member, or a null value where there is no such key.
  JsonView get(const char* key) const;
  /// Returns an element of an array; Error(data) outside of it.
  JsonView at(Index i) const;
  Index size() const;

  std::string text() const;
  double number() const;
  Index integer() const;
  bool boolean() const;
  /// Return a member, or `otherwise` where it is absent or null.
  std::string text(const char* key, std::string_view otherwise) const;
  bool boolean(const char* key, bool otherwise) const;

  void for_elements(const std::function<void(const JsonView&)>& handle) const;
  void for_members(const std::function<void(const std::string&, const JsonView&)>& handle) const;

  /// Throws Error(data): the path, the value (shortened) and what is wrong with it.
  [[noreturn]] void refuse(std::string_view why) const;

  /// Returns the index of the text at `key` in `names`, `otherwise` without such a member.
  /// Error(data) lists the names for any other text.
  Index choose(const char* key, std::initializer_list<std::string_view> names,
               Index otherwise) const;

 private:
  friend class JsonDocument;
  JsonView(const void* value, std::string path) : value_(value), path_(std::move(path)) {}

  const void* value_;  // of the JSON library's type, which stays out of this header
  std::string path_;
};

/// A parsed JSON text; views of it must not outlive it. Error(data) where the text is no JSON.
class JsonDocument {
 public:
  explicit JsonDocument(std::string_view text);
  ~JsonDocument();

  JsonView root() const;

 private:
  struct Value;
  std::unique_ptr<const Value> value_;
};

}  // namespace mpitron::tokenizers
