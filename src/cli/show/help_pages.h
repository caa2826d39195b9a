#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

namespace mpitron::cli {

/// A command's description of itself, for manual pages and completion.
struct HelpPage {
  std::string name;                       // "preprocess", "dataset inspect"
  std::string summary;                    // one line
  std::string text;                       // of --help
  std::vector<std::string> options = {};  // "--input", in the order of the text
  std::vector<std::string> words = {};    // names of its own commands: "inspect", "convert"
};

/// Everything that `command` prints on standard output when it is asked for help.
std::string help_of(const Command& command, const Arguments& words);

/// The options that begin a row of a help text.
std::vector<std::string> options_in(const std::string& help);

/// The commands that a help text of the form "usage: ... COMMAND ..." lists.
std::vector<std::string> words_in(const std::string& help);

/// A page for each of these commands, and behind it one for each command of its own.
std::vector<HelpPage> help_pages(std::span<const Command> commands);

/// Scripts for three shells that complete commands and options of `mpitron` and `mpitron-cuda`, and
/// names of files behind options.
std::string bash_completion(std::span<const HelpPage> pages);
std::string zsh_completion(std::span<const HelpPage> pages);
std::string fish_completion(std::span<const HelpPage> pages);

/// Name of a page's file and of the page: "mpitron-dataset-inspect".
std::string man_name(const HelpPage& page);

/// The page of a command in the language of man(7); `version` stands at its foot.
std::string man_page(const HelpPage& page, const std::string& version);

/// The page of the program: its commands, its exit codes, its environment.
std::string man_page_of_program(std::span<const HelpPage> pages, const std::string& version);

}  // namespace mpitron::cli
