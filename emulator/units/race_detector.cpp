#include "emulator/units/race_detector.h"

// Declares functions of libtsan (sanitizer/tsan_interface.h), which are null where the program is
// linked without it.
extern "C" {
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_acquire(void* place);
[[gnu::weak]] void __tsan_release(void* place);
[[gnu::weak]] void AnnotateIgnoreReadsBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreReadsEnd(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreWritesBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace mpitron::emulator {

bool detects_races() {
  return __tsan_create_fiber != nullptr;
}

WatchedThread new_watched_thread() {
  return detects_races() ? __tsan_create_fiber(0) : nullptr;
}
WatchedThread this_watched_thread() {
  return detects_races() ? __tsan_get_current_fiber() : nullptr;
}
void watch(WatchedThread thread) {
  constexpr unsigned kOrdersNothing = 1;
  if (detects_races()) {
    __tsan_switch_to_fiber(thread, kOrdersNothing);
  }
}

void publish(const void* place) {
  if (detects_races()) {
    __tsan_release(const_cast<void*>(place));
  }
}
void observe(const void* place) {
  if (detects_races()) {
    __tsan_acquire(const_cast<void*>(place));
  }
}

Unwatched::Unwatched() {
  if (detects_races()) {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
}
Unwatched::~Unwatched() {
  if (detects_races()) {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
}

}  // namespace mpitron::emulator
