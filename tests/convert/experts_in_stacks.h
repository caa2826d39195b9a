#pragma once
#include <memory>
#include <string>
#include <vector>

#include "convert/tiny_models.h"

namespace mpitron::test {

inline constexpr const char* kAt = "model.layers.0.mlp.experts.";

/// Numbers from 0 on, in the shape.
inline std::vector<float> counted(Index count) {
  std::vector<float> values;
  for (Index i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(i));
  }
  return values;
}

/// Two experts with h = 3 and f = 2.
inline std::unique_ptr<MemorySource> experts_in_stacks() {
  auto files = std::make_unique<MemorySource>();
  files->add("lm_head.weight", {1, 2}, counted(2));
  files->add(std::string(kAt) + "gate_up_proj", {2, 3, 4}, counted(24));
  files->add(std::string(kAt) + "gate_up_proj_bias", {2, 4}, counted(8));
  files->add(std::string(kAt) + "down_proj", {2, 2, 3}, counted(12));
  files->add(std::string(kAt) + "down_proj_bias", {2, 3}, counted(6));
  return files;
}

}  // namespace mpitron::test
