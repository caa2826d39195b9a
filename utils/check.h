#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

namespace mpitron {

/// A broken invariant of the program itself (never a mistake of the user, which is `Error`).
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace detail {

template <class... Values>
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const Values&... values) {
  std::ostringstream text;
  text << file << ':' << line << ": invariant broken: " << condition;
  if constexpr (sizeof...(values) > 0) {
    text << " with";
    ((text << ' ' << values), ...);
  }
  throw InternalError(text.str());
}

}  // namespace detail
}  // namespace mpitron

/// MPITRON_CHECK(a == b, a, b): always on. MPITRON_DCHECK: in debug builds, for checks inside hot
/// loops.
#define MPITRON_CHECK(condition, ...)                                                             \
  do {                                                                                            \
    if (!(condition)) [[unlikely]]                                                                \
      ::mpitron::detail::check_failed(#condition, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)

#ifdef NDEBUG
#define MPITRON_DCHECK(condition, ...) static_cast<void>(0)
#else
#define MPITRON_DCHECK(condition, ...) MPITRON_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#endif
