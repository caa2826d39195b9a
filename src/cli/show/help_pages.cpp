#include "cli/show/help_pages.h"

#include <algorithm>
#include <cstdio>
#include <regex>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "utils/error.h"
#include "utils/system/machine.h"

// Manual pages made from what commands print for --help, so that they need no list of their own.
// Commands are run in this process with standard output redirected.

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

/// Returns the first group of `row` of each line that matches.
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

/// Returns what `mpitron COMMAND WORDS --help` prints.
std::string help_of(const Command& command, const Arguments& words) {
  Arguments all = words;
  all.emplace_back("--help");
  const CapturedOutput output;
  command.run(all);
  return output.text();
}

/// Reads the table that CLI11 and the option table print: two blanks, a short name if any, the long
/// name.
std::vector<std::string> options_in(const std::string& help) {
  static const std::regex row(R"(^  (?:-\w,)?(--[A-Za-z0-9][-\w]*))");
  return first_words(help, row);
}

/// Returns the commands of a command, whose usage line names COMMAND; none for others.
std::vector<std::string> words_in(const std::string& help) {
  static const std::regex usage(R"(^usage: [^\n]* COMMAND \.\.\.)");
  static const std::regex row(R"(^  ([a-z][-a-z]*)  )");
  return std::regex_search(help, usage) ? first_words(help, row) : std::vector<std::string>();
}

/// Goes one level down: what is below (`dataset images pack`) stands on the page of its parent.
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

namespace {

constexpr std::size_t kPageColumns = 92, kSecondColumn = 42;

/// Escapes text for man(7): backslashes, hyphens, and a dot or quote that begins a line, which
/// would be a request.
std::string escaped(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) {
      out += "\\&";
    }
    begins = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else {
      out += c == '-' ? std::string("\\-") : std::string(1, c);
    }
  }
  return out;
}

/// Writes the title line of man(7), without a date, and the section NAME.
std::string header(const std::string& name, const std::string& summary,
                   const std::string& version) {
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".TH \"{}\" 1 \"\" \"mpitron {}\" \"mpitron\"\n.SH NAME\n{} \\- {}\n", title,
                     version, escaped(name), escaped(summary));
}

/// Sets a help text without filling, folded to the page's columns.
std::string as_it_is(const std::string& text) {
  return ".nf\n" + escaped(fold_lines(text, kPageColumns, kSecondColumn)) + "\n.fi\n";
}

}  // namespace

std::string man_name(const HelpPage& page) {
  std::string name = "mpitron-" + page.name;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string man_page(const HelpPage& page, const std::string& version) {
  return header(man_name(page), page.summary, version) + ".SH SYNOPSIS\n.B mpitron " +
         escaped(page.name) + "\n[OPTIONS]\n.SH DESCRIPTION\n" + as_it_is(page.text) +
         ".SH SEE ALSO\n.BR mpitron (1)\n";
}

std::string man_page_of_program(std::span<const HelpPage> pages, const std::string& version) {
  std::string text =
      header("mpitron", "pretrains, evaluates and serves large transformers", version) +
      ".SH SYNOPSIS\n.B mpitron\nCOMMAND [OPTIONS]\n.br\n.B mpirun\n\\-n N mpitron COMMAND "
      "[OPTIONS]\n.SH COMMANDS\n";
  for (const HelpPage& page : pages) {
    text += fmt::format(".TP\n.BR {} (1)\n{}\n", escaped(man_name(page)), escaped(page.summary));
  }
  return text +
         ".SH EXIT STATUS\n.nf\n0   done\n2   options are wrong\n3   the machine or the launch is\n"
         "4   data or files are\n16, 17, 75  a result was rejected (see the page of --rerun-mode)\n"
         "85, 86      stopped by a signal or a time limit, saved or not\n.fi\n";
}

}  // namespace mpitron::cli
