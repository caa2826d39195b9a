#include "utils/system/machine.h"

#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mpitron {

Index machine_memory() {
  return static_cast<Index>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<Index>(::sysconf(_SC_PAGESIZE));
}

Index free_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  Index kilobytes = 0;
  for (std::string unit; file >> name >> kilobytes;) {
    std::getline(file, unit);
    if (name == "MemAvailable:") {
      return kilobytes << 10;
    }
  }
  return static_cast<Index>(::sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<Index>(::sysconf(_SC_PAGESIZE));
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

namespace {

constexpr int kNotThere = 127;

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t n = 0; (n = ::read(descriptor, piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

CommandOutput command_output(const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {kNotThere, ""};
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int error =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  CommandOutput output{kNotThere, error == 0 ? read_all(ends[0]) : ""};
  ::close(ends[0]);
  if (int status = 0; error == 0 && ::waitpid(child, &status, 0) == child) {
    output.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return output;
}

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
