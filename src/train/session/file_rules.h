#pragma once
#include <vector>

#include "config/parse/parse.h"

namespace mpitron::train {

/// Finds everything that the files of a run contradict: tokenizer, corpora, checkpoint, folders to
/// write to. Opens what the run would open, on one process, without MPI and without building
/// indices; `run` breaks no rule between options. The findings have ids from F001 on.
std::vector<config::Finding> check_files(const config::RunConfig& run);

/// Checks the folders to write to (--save, --tensorboard-dir, --data-cache-path), and throws an
/// Error of the first that cannot be written to.
void check_output_folders(const config::RunConfig& run);

}  // namespace mpitron::train
