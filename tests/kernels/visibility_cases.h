#pragma once
#include <deque>
#include <vector>

#include "kernels/host/attention/attention_problem.h"

namespace mpitron::kernels::host::attention {

/// The definition of kernels/attention/attention.h, without the mask.
inline bool sees(const Visibility& v, Index row, Index key) {
  const Index query = v.positions.queries(row), position = v.positions.keys(key);
  const Index until = v.seen_until == nullptr || row >= v.s ? query : v.seen_until[row];
  return key < v.s_kv && !(v.causal && position > std::max(query, until)) &&
         !(v.window >= 0 && position < query - v.window);
}

/// The case where twenty of every fifty positions see each other. The numbers live on.
inline Visibility with_runs(Visibility v) {
  static std::deque<std::vector<std::int64_t>> numbers;
  std::vector<std::int64_t>& until = numbers.emplace_back();
  for (Index row = 0; row < v.s; ++row) {
    const Index query = v.positions.queries(row), run = query / 50 * 50 + 30;
    until.push_back(query >= run ? run + 19 : query);
  }
  v.seen_until = until.data();
  return v;
}

/// Square, wide and tall, causal and not, with windows that end inside and outside of tiles, with
/// runs of positions that see each other.
inline std::vector<Visibility> visibility_cases() {
  std::vector<Visibility> cases;
  for (const Index s : {1, 5, 97, 131}) {
    for (const Index s_kv : {1, 64, 97, 203}) {
      for (const bool causal : {false, true}) {
        for (const Index window : {-1, 0, 1, 17, 100, 500}) {
          cases.push_back({s, s_kv, causal, window});
          const bool runs = causal && (window < 0 || window == 17);
          if (runs) {
            cases.push_back(with_runs(cases.back()));
          }
          for (const SequenceMap& queries : {SequenceMap{}, SequenceMap{s / 2, {20, 150}}}) {
            cases.push_back({s, s_kv, causal, window, {queries, {s_kv / 3, {10, 120}}}});
            if (runs && s_kv == 203) {
              cases.push_back(with_runs(cases.back()));
            }
          }
        }
      }
    }
  }
  return cases;
}

}  // namespace mpitron::kernels::host::attention
