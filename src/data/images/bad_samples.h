#pragma once
#include <mutex>
#include <set>
#include <string>

#include "utils/error.h"
#include "utils/log.h"
#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Samples that cannot be read, and are replaced by the next one of their list as long as the
/// options allow it (`--skip-bad-images`). Thread-safe.
class BadSamples {
 public:
  explicit BadSamples(Index most) : most_(most) {}

  /// Returns read(sample) of the first sample from `sample` on, of `size`, that can be read;
  /// `sample` is which. Error(data) where more than `most` are bad, or all of them.
  template <class Read>
  auto first_good(Index& sample, Index size, const Read& read) {
    for (Index tries = 1;; ++tries) {
      try {
        return read(sample);
      } catch (const Error& error) {
        if (error.code() != ExitCode::data || tries > size) {
          throw;
        }
        note(sample, error.what());
        sample = (sample + 1) % size;
      }
    }
  }

  /// Returns whether read() succeeds. Error(data) where it does not and no more may be bad.
  template <class Read>
  bool is_good(Index sample, const Read& read) {
    try {
      read();
      return true;
    } catch (const Error& error) {
      if (error.code() != ExitCode::data) {
        throw;
      }
      note(sample, error.what());
      return false;
    }
  }

 private:
  /// Counts a bad sample once, however often it is met.
  void note(Index sample, const std::string& message) {
    const std::lock_guard lock(mutex_);
    if (!bad_.insert(sample).second) {
      return;
    }
    const auto count = static_cast<Index>(bad_.size());
    if (count > most_) {
      throw_data("{}{}", message,
                 most_ > 0 ? fmt::format("; {} samples cannot be read, more than "
                                         "--skip-bad-images {}",
                                         count, most_)
                           : "; --skip-bad-images N leaves out up to N such images");
    }
    log::warning("{}; the next sample takes its place ({} of {})", message, count, most_);
  }

  Index most_;
  std::mutex mutex_;
  std::set<Index> bad_;
};

}  // namespace mpitron::data
