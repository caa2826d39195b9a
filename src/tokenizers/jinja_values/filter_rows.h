#pragma once
#include <span>

#include "tokenizers/jinja_values/operators.h"

namespace mpitron::tokenizers::jinja {

struct FilterRow {
  std::string_view name;
  Filter filter;
};

/// Filters of texts and numbers, and of lists and dictionaries.
std::span<const FilterRow> text_filters();
std::span<const FilterRow> list_filters();

}  // namespace mpitron::tokenizers::jinja
