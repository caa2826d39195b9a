#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace mpitron::cli {

/// Text to standard output, at once.
void show(std::string_view text);

/// Lines of standard input, and Ctrl-C as something to ask for instead of the program's end. From
/// its construction on SIGINT is blocked in this thread and in those it starts: make it before any
/// other thread.
class ChatTerminal {
 public:
  ChatTerminal();
  ~ChatTerminal();
  ChatTerminal(const ChatTerminal&) = delete;
  ChatTerminal& operator=(const ChatTerminal&) = delete;

  /// The next line without its end, behind a prompt that is shown at a terminal only; nothing at
  /// the end of input. Ctrl-C begins the line anew.
  std::optional<std::string> line(std::string_view prompt);
  /// Returns whether Ctrl-C was typed since the last question.
  bool interrupted();

 private:
  std::optional<std::string> buffered_line();

  int signals_;  // a descriptor that can be read when SIGINT came
  std::string input_;
  bool ended_ = false;
};

}  // namespace mpitron::cli
