#pragma once
#include <initializer_list>
#include <string>
#include <utility>

#include "utils/check.h"

namespace mpitron::config {

template <class E>
using Names = std::initializer_list<std::pair<const char*, E>>;

/// The value that `word` stands for; the option table lets no other words pass.
template <class E>
E pick(const std::string& word, Names<E> names) {
  for (const auto& [name, value] : names) {
    if (word == name) {
      return value;
    }
  }
  MPITRON_CHECK(false, word);
  return {};
}

}  // namespace mpitron::config
