#pragma once
#include <algorithm>
#include <memory>
#include <type_traits>

#include "utils/numbers/shape.h"

namespace mpitron::kernels::host {

/// Threads that a kernel may use.
Index max_workers();

/// A callable void(begin, end, worker), borrowed for the call.
class RangeBody {
 public:
  template <class F>
  explicit RangeBody(F& body)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* object, Index begin, Index end, Index worker) {
          F& f = *static_cast<F*>(object);
          if constexpr (std::is_invocable_v<F&, Index, Index, Index>) {
            f(begin, end, worker);
          } else {
            f(begin, end);
          }
        }) {}
  void operator()(Index begin, Index end, Index worker) const {
    call_(object_, begin, end, worker);
  }

 private:
  void* object_;
  void (*call_)(void*, Index, Index, Index);
};

/// Cuts [0, count) into at most max_workers() consecutive ranges of nearly equal size, one a
/// thread, fewer when `work` (about one unit per element touched) would not pay for the dispatch of
/// 2 microseconds. parallel.cpp is the one file that meets Kokkos.
void run_ranges(Index count, Index work, RangeBody body);

/// Below this, the calling thread does it all.
inline constexpr Index kInlineWork = 16384;

/// body(begin, end) or body(begin, end, worker) over consecutive ranges of [0, count). The ranges
/// depend on the number of threads: nothing that reaches a result may depend on them.
template <class F>
inline void for_ranges(Index count, Index work, F&& body) {
  if (count <= 0) {
    return;
  }
  RangeBody ranges(body);
  if (work < 2 * kInlineWork) {
    ranges(0, count, 0);
  } else {
    run_ranges(count, work, ranges);
  }
}

/// body(i) for every block i.
template <class F>
inline void for_blocks(Index count, Index work, F&& body) {
  for_ranges(count, work, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      body(i);
    }
  });
}

}  // namespace mpitron::kernels::host
