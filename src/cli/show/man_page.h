#pragma once
#include <span>
#include <string>

#include "cli/show/help_pages.h"

namespace mpitron::cli {

/// Name of a page's file and of the page: "mpitron-dataset-inspect".
std::string man_name(const HelpPage& page);

/// The page of a command in the language of man(7); `version` stands at its foot.
std::string man_page(const HelpPage& page, const std::string& version);

/// The page of the program: its commands, its exit codes, its environment.
std::string man_page_of_program(std::span<const HelpPage> pages, const std::string& version);

}  // namespace mpitron::cli
