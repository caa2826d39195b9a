#pragma once
#include <vector>

#include "kernels/host/attention/attention_problem.h"

namespace mpitron::kernels::host::attention {

/// The definition of kernels/attention/attention.h, without the mask.
inline bool sees(const Visibility& v, Index row, Index key) {
  const Index query = v.positions.queries(row), position = v.positions.keys(key);
  return key < v.s_kv && !(v.causal && position > query) &&
         !(v.window >= 0 && position < query - v.window);
}

/// Square, wide and tall, causal and not, with windows that end inside and outside of tiles.
inline std::vector<Visibility> visibility_cases() {
  std::vector<Visibility> cases;
  for (const Index s : {1, 5, 97, 131}) {
    for (const Index s_kv : {1, 64, 97, 203}) {
      for (const bool causal : {false, true}) {
        for (const Index window : {-1, 0, 1, 17, 100, 500}) {
          cases.push_back({s, s_kv, causal, window});
          for (const SequenceMap& queries : {SequenceMap{}, SequenceMap{s / 2, {20, 150}}}) {
            cases.push_back({s, s_kv, causal, window, {queries, {s_kv / 3, {10, 120}}}});
          }
        }
      }
    }
  }
  return cases;
}

}  // namespace mpitron::kernels::host::attention
