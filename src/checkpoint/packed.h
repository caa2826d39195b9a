#pragma once
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

// Plain records as texts, for their way from one rank to another: both are the same program.

namespace mpitron::checkpoint {

template <class T>
requires std::is_trivially_copyable_v<T> std::string pack(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
requires std::is_trivially_copyable_v<T> std::vector<T> unpack(std::string_view text) {
  std::vector<T> values(text.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), text.data(), values.size() * sizeof(T));
  }
  return values;
}

}  // namespace mpitron::checkpoint
