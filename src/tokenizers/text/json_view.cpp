#include "tokenizers/text/json_view.h"

#include <limits>

#include <nlohmann/json.hpp>

#include "utils/error.h"

// Values of tokenizers' JSON files, with paths for messages.

namespace mpitron::tokenizers {

namespace {

using Json = nlohmann::json;

const Json& json_of(const void* value) {
  return *static_cast<const Json*>(value);
}

/// The value of members that are absent.
const Json& null_value() {
  static const Json null;
  return null;
}

}  // namespace

bool JsonView::is_null() const {
  return json_of(value_).is_null();
}
bool JsonView::is_text() const {
  return json_of(value_).is_string();
}
bool JsonView::is_object() const {
  return json_of(value_).is_object();
}
bool JsonView::is_array() const {
  return json_of(value_).is_array();
}

/// Throws Error(data) with path, value (shortened) and reason.
void JsonView::refuse(std::string_view why) const {
  std::string value = json_of(value_).dump(-1, ' ', true, Json::error_handler_t::replace);
  if (value.size() > 80) {
    value = value.substr(0, 77) + "...";
  }
  throw_data("{} is {}: {}", path_, value, why);
}

bool JsonView::has(const char* key) const {
  return !get(key).is_null();
}

/// Returns a view of null where the key is absent.
JsonView JsonView::get(const char* key) const {
  if (!json_of(value_).is_object()) {
    refuse("an object is expected");
  }
  const Json& object = json_of(value_);
  const auto found = object.find(key);
  return {found == object.end() ? &null_value() : &*found, path_.empty() ? key : path_ + '.' + key};
}

JsonView JsonView::at(const char* key) const {
  JsonView member = get(key);
  if (member.is_null()) {
    throw_data("{} is missing", member.path_);
  }
  return member;
}

JsonView JsonView::at(Index i) const {
  if (i >= size()) {
    refuse("it has too few elements");
  }
  return {&json_of(value_)[static_cast<std::size_t>(i)], fmt::format("{}[{}]", path_, i)};
}

Index JsonView::size() const {
  if (!json_of(value_).is_array()) {
    refuse("an array is expected");
  }
  return static_cast<Index>(json_of(value_).size());
}

std::string JsonView::text() const {
  if (!json_of(value_).is_string()) {
    refuse("a string is expected");
  }
  return json_of(value_).get<std::string>();
}

double JsonView::number() const {
  if (!json_of(value_).is_number()) {
    refuse("a number is expected");
  }
  return json_of(value_).get<double>();
}

Index JsonView::integer() const {
  if (!json_of(value_).is_number_integer()) {
    refuse("an integer is expected");
  }
  if (json_of(value_).is_number_unsigned() &&
      json_of(value_).get<std::uint64_t>() > std::uint64_t{std::numeric_limits<Index>::max()}) {
    refuse("an integer of at most 63 bits is expected");
  }
  return json_of(value_).get<Index>();
}

bool JsonView::boolean() const {
  if (!json_of(value_).is_boolean()) {
    refuse("true or false is expected");
  }
  return json_of(value_).get<bool>();
}

std::string JsonView::text(const char* key, std::string_view otherwise) const {
  return has(key) ? get(key).text() : std::string(otherwise);
}

bool JsonView::boolean(const char* key, bool otherwise) const {
  return has(key) ? get(key).boolean() : otherwise;
}

void JsonView::for_elements(const std::function<void(const JsonView&)>& handle) const {
  for (Index i = 0; i < size(); ++i) {
    handle(at(i));
  }
}

void JsonView::for_members(
    const std::function<void(const std::string&, const JsonView&)>& handle) const {
  if (!json_of(value_).is_object()) {
    refuse("an object is expected");
  }
  for (const auto& [key, value] : json_of(value_).items()) {
    handle(key, {&value, path_.empty() ? key : path_ + '.' + key});
  }
}

/// Returns the place of the text among `names`, which the error lists.
Index JsonView::choose(const char* key, std::initializer_list<std::string_view> names,
                       Index otherwise) const {
  if (!has(key)) {
    return otherwise;
  }
  const std::string given = get(key).text();
  std::string allowed;
  Index index = 0;
  for (const std::string_view name : names) {
    if (name == given) {
      return index;
    }
    ++index;
    allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  }
  get(key).refuse("supported are " + allowed);
}

}  // namespace mpitron::tokenizers
