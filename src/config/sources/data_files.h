#pragma once
#include "config/sources/given_option.h"

namespace mpitron::config {

/// Replaces --data-args-path by the words of its file, and --per-split-data-args-path by the lists
/// of its JSON file (keys train, valid, test). A file that cannot be read or understood becomes a
/// finding.
void expand_data_files(OptionValues& values, Reading& report);

}  // namespace mpitron::config
