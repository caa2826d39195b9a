#include "cli/show/help_pages.h"

#include <cstdio>
#include <regex>
#include <sstream>

#include <unistd.h>

#include "utils/error.h"

namespace mpitron::cli {
namespace {

/// While it lives, standard output goes into a file without a name.
class CapturedOutput {
 public:
  CapturedOutput() : file_(std::tmpfile()), before_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    if (file_ == nullptr || before_ < 0 || ::dup2(::fileno(file_), STDOUT_FILENO) < 0) {
      throw_environment("no temporary file for what commands say of themselves: see TMPDIR");
    }
  }
  ~CapturedOutput() {
    std::fflush(stdout);
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
    std::fclose(file_);
  }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  std::string text() const {
    std::fflush(stdout);
    std::rewind(file_);
    std::string all;
    std::string piece(4096, '\0');
    for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), file_)) > 0;) {
      all.append(piece, 0, n);
    }
    return all;
  }

 private:
  std::FILE* file_;
  int before_;
};

std::vector<std::string> first_words(const std::string& text, const std::regex& row) {
  std::vector<std::string> found;
  std::istringstream in(text);
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_search(line, match, row)) {
      found.push_back(match[1]);
    }
  }
  return found;
}

}  // namespace

std::string help_of(const Command& command, const Arguments& words) {
  Arguments all = words;
  all.emplace_back("--help");
  const CapturedOutput output;
  command.run(all);
  return output.text();
}

std::vector<std::string> options_in(const std::string& help) {
  static const std::regex row(R"(^  (?:-\w,)?(--[A-Za-z0-9][-\w]*))");
  return first_words(help, row);
}

std::vector<std::string> words_in(const std::string& help) {
  static const std::regex usage(R"(^usage: [^\n]* COMMAND \.\.\.)");
  static const std::regex row(R"(^  ([a-z][-a-z]*)  )");
  return std::regex_search(help, usage) ? first_words(help, row) : std::vector<std::string>();
}

std::vector<HelpPage> help_pages(std::span<const Command> commands) {
  std::vector<HelpPage> pages;
  for (const Command& command : commands) {
    const std::string name(command.name), summary(command.summary);
    const std::string text = help_of(command, {});
    pages.push_back({name, summary, text, options_in(text), words_in(text)});
    for (const std::string& word : std::vector(pages.back().words)) {
      const std::string own = help_of(command, {word});
      pages.push_back({name + " " + word, summary, own, options_in(own)});
    }
  }
  return pages;
}

}  // namespace mpitron::cli
