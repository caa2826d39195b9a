#pragma once

#include "data/index/index_cache.h"

// An index of a few numbers.

namespace mpitron::data {

inline const std::vector<std::string> kNames{"x"};

inline IndexArray some_array(Index n) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(n), 7);
  return IndexArray(std::move(values));
}

}  // namespace mpitron::data
