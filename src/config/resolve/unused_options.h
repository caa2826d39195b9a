#pragma once
#include "config/sources/given_option.h"

namespace mpitron::config {

/// Adds a notice for each option that was given and has no effect in this run. Scripts carry such
/// options over, so that they are no mistakes. Values are derived already.
void note_unused_options(const OptionValues& values, Reading& report);

}  // namespace mpitron::config
