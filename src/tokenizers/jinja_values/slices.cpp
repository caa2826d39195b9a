#include <algorithm>

#include <fmt/format.h>

#include "tokenizers/jinja_values/operators.h"
#include "tokenizers/jinja_values/python_text.h"

// Slices of texts and lists, `value[from:to:step]`, as Python counts them.

namespace mpitron::tokenizers::jinja {
namespace {

std::optional<std::int64_t> bound_of(const Value& value) {
  if (value.is_none() || value.is_undefined()) {
    return std::nullopt;
  }
  if (!value.is_integer()) {
    throw Fault("slice indices must be integers or None or have an __index__ method");
  }
  return value.integer();
}

/// Returns the positions that a slice visits in a sequence of `size`, as Python's slice.indices
/// counts them. A step that overflows ends the walk.
std::vector<std::size_t> places(std::int64_t size, const Value& from, const Value& to,
                                const Value& by) {
  const std::int64_t step = bound_of(by).value_or(1);
  if (step == 0) {
    throw Fault("slice step cannot be zero");
  }
  const auto clamped = [&](const Value& value, std::int64_t otherwise) {
    const auto bound = bound_of(value);
    if (!bound) {
      return otherwise;
    }
    const std::int64_t at = *bound < 0 ? std::max<std::int64_t>(*bound, -size - 1) + size : *bound;
    return step > 0 ? std::clamp<std::int64_t>(at, 0, size)
                    : std::clamp<std::int64_t>(at, -1, size - 1);
  };
  const std::int64_t end = clamped(to, step > 0 ? size : -1);
  std::vector<std::size_t> all;
  for (std::int64_t at = clamped(from, step > 0 ? 0 : size - 1); step > 0 ? at < end : at > end;) {
    all.push_back(static_cast<std::size_t>(at));
    if (__builtin_add_overflow(at, step, &at)) {
      break;
    }
  }
  return all;
}

std::string sliced_text(const std::string& text, const Value& from, const Value& to,
                        const Value& by) {
  const std::int64_t size = characters(text);
  std::vector<std::size_t> begins;
  for (std::size_t at = 0; at < text.size(); at += byte_of(std::string_view(text).substr(at), 1)) {
    begins.push_back(at);
  }
  begins.push_back(text.size());
  std::string result;
  for (const std::size_t at : places(size, from, to, by)) {
    result.append(text, begins[at], begins[at + 1] - begins[at]);
  }
  return result;
}

}  // namespace

Value slice_of(Run& run, const Value& value, const Value& from, const Value& to,
               const Value& step) {
  require_defined(value);
  if (const std::string* text = value.text()) {
    run.spend(text->size());
    return sliced_text(*text, from, to, step);
  }
  if (value.list() == nullptr) {
    return Value::undefined(fmt::format("{} has no element slice", described(value)));
  }
  List items;
  run.spend(value.list()->size());
  for (const std::size_t at :
       places(static_cast<std::int64_t>(value.list()->size()), from, to, step)) {
    items.push_back((*value.list())[at]);
  }
  return run.list(std::move(items), value.is_tuple());
}

}  // namespace mpitron::tokenizers::jinja
