#pragma once
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace mpitron {

/// Exit codes of the program; README lists them for users.
enum class ExitCode : int {
  success = 0,
  failure = 1,
  usage = 2,        // options or configuration
  environment = 3,  // launch, libraries, devices
  data = 4,         // data sets, tokenizers, checkpoints
  resume_to_disambiguate = 16,
  result_rejected = 17,
  interrupted = 85,          // a signal or the time limit ended the run
  interrupted_unsaved = 86,  // the same, but no checkpoint could be saved
};

/// A mistake of the user: what was given, what is allowed, which option, the nearest fix. The
/// program prints the message once, without a stack trace, and ends with the exit code.
class Error : public std::runtime_error {
 public:
  /// `on_all_ranks`: every rank of the job throws the same, so that one tells it.
  Error(ExitCode code, const std::string& message, bool on_all_ranks = false)
      : std::runtime_error(message), code_(code), on_all_ranks_(on_all_ranks) {}
  ExitCode code() const { return code_; }
  bool on_all_ranks() const { return on_all_ranks_ || code_ == ExitCode::usage; }

 private:
  ExitCode code_;
  bool on_all_ranks_;
};

template <class... Args>
[[noreturn]] void throw_usage(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ExitCode::usage, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void throw_environment(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ExitCode::environment, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void throw_data(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ExitCode::data, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace mpitron
