#include "cli/generation/chat_terminal.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "utils/error.h"

// Ctrl-C arrives through a signalfd, so that it can be waited for together with input and needs no
// handler. Input is read by read(2), as poll() knows nothing of what a C++ stream has buffered.

namespace mpitron::cli {

ChatTerminal::ChatTerminal() {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
  signals_ = ::signalfd(-1, &interrupts, SFD_NONBLOCK | SFD_CLOEXEC);
  if (signals_ < 0) {
    throw_environment("signalfd: the system has no descriptor left");
  }
}

ChatTerminal::~ChatTerminal() {
  ::close(signals_);
}

bool ChatTerminal::interrupted() {
  signalfd_siginfo signal;
  bool any = false;
  while (::read(signals_, &signal, sizeof(signal)) == static_cast<ssize_t>(sizeof(signal))) {
    any = true;
  }
  return any;
}

void show(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

/// Takes a whole line from what was read; at the end of input the rest counts as one.
std::optional<std::string> ChatTerminal::buffered_line() {
  const std::size_t end = input_.find('\n');
  if (end == std::string::npos && !(ended_ && !input_.empty())) {
    return std::nullopt;
  }
  std::string line = input_.substr(0, end);
  input_.erase(0, end == std::string::npos ? input_.size() : end + 1);
  return line;
}

std::optional<std::string> ChatTerminal::line(std::string_view prompt) {
  const bool shown = ::isatty(STDIN_FILENO) != 0;
  show(shown ? prompt : "");
  for (;;) {
    if (auto line = buffered_line(); line || ended_) {
      return line;
    }
    std::array<pollfd, 2> waits{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{signals_, POLLIN, 0}};
    if (::poll(waits.data(), waits.size(), -1) < 0) {
      if (errno == EINTR) {
        continue;
      }
      return std::nullopt;
    }
    if (interrupted()) {
      show("\n(Ctrl-D or /exit ends the chat)\n");
      show(shown ? prompt : "");
    }
    if (waits[0].revents != 0) {
      std::array<char, 4096> piece;
      const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
      ended_ = count <= 0;
      input_.append(piece.data(), static_cast<std::size_t>(count < 0 ? 0 : count));
    }
  }
}

}  // namespace mpitron::cli
