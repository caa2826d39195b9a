#include "utils/system/terminal.h"

#include <sstream>

#include <sys/ioctl.h>
#include <unistd.h>

namespace mpitron {

std::optional<int> terminal_columns(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
             ? std::optional<int>(size.ws_col)
             : std::nullopt;
}

std::string fold_lines(const std::string& text, std::size_t columns, std::size_t second) {
  std::string folded;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.starts_with(' ') ? second : 0;
    while (line.size() > columns) {
      const std::size_t blank = line.rfind(' ', columns);
      if (blank == std::string::npos || blank <= indent) {
        break;  // one word
      }
      folded += line.substr(0, blank) + '\n';
      line = std::string(indent, ' ') + line.substr(blank + 1);
    }
    folded += line + '\n';
  }
  return text.ends_with('\n') || folded.empty() ? folded : folded.substr(0, folded.size() - 1);
}

std::string for_terminal(const std::string& help, std::size_t second) {
  const std::optional<int> columns = terminal_columns(STDOUT_FILENO);
  return columns ? fold_lines(help, static_cast<std::size_t>(*columns), second) : help;
}

}  // namespace mpitron
