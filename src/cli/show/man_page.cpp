#include "cli/show/man_page.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "utils/system/terminal.h"

namespace mpitron::cli {
namespace {

constexpr std::size_t kPageColumns = 92, kSecondColumn = 42;

/// Text as it is: no word of it is taken for a request.
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

std::string header(const std::string& name, const std::string& summary,
                   const std::string& version) {
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".TH \"{}\" 1 \"\" \"mpitron {}\" \"mpitron\"\n.SH NAME\n{} \\- {}\n", title,
                     version, escaped(name), escaped(summary));
}

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
