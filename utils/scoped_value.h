#pragma once
#include <utility>

namespace mpitron {

/// While it lives, a setting has the value `during`, then again the one of `before`: `set` is
/// called with each.
template <class T, class Set>
class ScopedValue {
 public:
  ScopedValue(T before, T during, Set set) : before_(std::move(before)), set_(std::move(set)) {
    set_(std::move(during));
  }
  ~ScopedValue() { set_(std::move(before_)); }
  ScopedValue(const ScopedValue&) = delete;
  ScopedValue& operator=(const ScopedValue&) = delete;

 private:
  T before_;
  Set set_;
};

}  // namespace mpitron
