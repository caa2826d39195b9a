#pragma once
#include <vector>

#include "kernels/host/attention_problem.h"

namespace mpitron::kernels::host::attention {

/// The definition of kernels/attention.h, without the mask.
inline bool sees(const Visibility& v, Index row, Index key) {
  const Index diagonal = row + v.s_kv - v.s;
  return key < v.s_kv && !(v.causal && key > diagonal) &&
         !(v.window >= 0 && key < diagonal - v.window);
}

/// Square, wide and tall, causal and not, with windows that end inside and outside of tiles.
inline std::vector<Visibility> visibility_cases() {
  std::vector<Visibility> cases;
  for (const Index s : {1, 5, 97, 131}) {
    for (const Index s_kv : {1, 64, 97, 203}) {
      for (const bool causal : {false, true}) {
        for (const Index window : {-1, 0, 1, 17, 100, 500}) {
          cases.push_back({s, s_kv, causal, window, nullptr, 0});
        }
      }
    }
  }
  return cases;
}

}  // namespace mpitron::kernels::host::attention
