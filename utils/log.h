#pragma once
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace mpitron::log {

/// From most to least talkative.
enum class Level { debug, info, warning, error };

/// Messages go to stderr with a timestamp; results of a command (the iteration line among them) go
/// to stdout by `print`, unchanged. On ranks other than 0 only warnings and errors appear, once per
/// distinct message.
/// Messages below are left out.
void set_level(Level level);
/// Set once the launcher has told it; before, every process speaks as rank 0.
void set_rank(int rank);
int rank();
void write(Level level, std::string_view message);
void print(std::string_view line);

template <class... Args>
void debug(fmt::format_string<Args...> text, Args&&... args) {
  write(Level::debug, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> text, Args&&... args) {
  write(Level::info, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void warning(fmt::format_string<Args...> text, Args&&... args) {
  write(Level::warning, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> text, Args&&... args) {
  write(Level::error, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace mpitron::log
