#pragma once
#include <span>
#include <string>

#include "cli/show/help_pages.h"

namespace mpitron::cli {

/// Scripts that complete commands and options of `mpitron` and `mpitron-cuda`, and names of files
/// behind options, in three shells.
std::string bash_completion(std::span<const HelpPage> pages);
std::string zsh_completion(std::span<const HelpPage> pages);
std::string fish_completion(std::span<const HelpPage> pages);

}  // namespace mpitron::cli
