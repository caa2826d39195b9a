#include <fmt/format.h>

#include "tokenizers/jinja_values/operators.h"
#include "tokenizers/jinja_values/python_text.h"

// Attributes, elements and iteration of values, with Python's rules for positions and Jinja's for
// what is missing: it is undefined, with a sentence that tells why.

namespace mpitron::tokenizers::jinja {
namespace {

Value no_attribute(const Value& value, const std::string& name) {
  return Value::undefined(fmt::format("'{}' has no attribute '{}'", described(value), name));
}

/// A method without its call: `x.strip` in `x.strip | string`.
class BoundMethod : public Object {
 public:
  BoundMethod(Method method, Value self) : method_(method), self_(std::move(self)) {}
  std::string_view type_name() const override { return "builtin_function_or_method"; }
  bool callable() const override { return true; }
  Value call(Run& run, const Arguments& arguments) override {
    return method_(run, self_, arguments);
  }

 private:
  Method method_;
  Value self_;
};

Value own_attribute(Run& run, const Value& value, const std::string& name) {
  if (value.object() != nullptr) {
    auto found = value.object()->attribute(name);
    return found ? *found : no_attribute(value, name);
  }
  if (const Method method = find_method(value, name)) {
    return run.make<BoundMethod>(method, value);
  }
  return no_attribute(value, name);
}

/// Returns a position in a sequence of `size`; negative ones count from the end. Nothing outside.
std::optional<std::size_t> place(std::int64_t index, std::int64_t size) {
  index += index < 0 ? size : 0;
  return index >= 0 && index < size ? std::optional(static_cast<std::size_t>(index)) : std::nullopt;
}

Value no_element(Run& run, const Value& value, const Value& key) {
  return Value::undefined(fmt::format("{} has no element {}", described(value), repr_of(run, key)));
}

/// Positions in a text are found by walking over it, which is counted as work.
Value indexed(Run& run, const Value& value, const Value& key) {
  if (const std::string* text = value.text()) {
    run.spend(text->size() / 32);
    const auto at = place(key.integer(), characters(*text));
    if (!at) {
      return no_element(run, value, key);
    }
    const std::size_t begin = byte_of(*text, static_cast<std::int64_t>(*at));
    return text->substr(begin, byte_of(std::string_view(*text).substr(begin), 1));
  }
  const auto at = place(key.integer(), static_cast<std::int64_t>(value.list()->size()));
  return at ? (*value.list())[*at] : no_element(run, value, key);
}

}  // namespace

std::string described(const Value& value) {
  return value.is_none() ? "None" : fmt::format("{} object", value.type_name());
}

/// Methods of dictionaries hide keys of the same name, as in Jinja: `x.items` is the method.
Value attribute_of(Run& run, const Value& value, const std::string& name) {
  require_defined(value);
  if (value.dict() != nullptr && find_method(value, name) == nullptr) {
    const Value* found = value.dict()->find_name(name);
    return found != nullptr ? *found : no_attribute(value, name);
  }
  return own_attribute(run, value, name);
}

Value element_of(Run& run, const Value& value, const Value& key) {
  require_defined(value);
  const bool can_be_key = key.is_tuple() || (key.list() == nullptr && key.dict() == nullptr);
  if (value.dict() != nullptr && can_be_key && !key.is_undefined()) {
    if (const Value* found = value.dict()->find(key)) {
      return *found;
    }
  }
  if ((value.text() != nullptr || value.list() != nullptr) && key.is_integer()) {
    return indexed(run, value, key);
  }
  return key.text() != nullptr ? own_attribute(run, value, *key.text())
                               : no_element(run, value, key);
}

/// An undefined value has no elements; other values that cannot be walked over are Faults.
List elements_of(Run& run, const Value& value) {
  List items;
  if (value.list() != nullptr) {
    items = *value.list();
  } else if (const Dict* dict = value.dict()) {
    for (const auto& [key, each] : dict->items()) {
      items.push_back(key);
    }
  } else if (const std::string* text = value.text()) {
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t size = byte_of(std::string_view(*text).substr(at), 1);
      items.emplace_back(text->substr(at, size));
      at += size;
    }
  } else if (!value.is_undefined()) {
    throw Fault(fmt::format("'{}' object is not iterable", value.type_name()));
  }
  run.spend(items.size());
  return items;
}

}  // namespace mpitron::tokenizers::jinja
