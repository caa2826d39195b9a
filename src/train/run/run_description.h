#pragma once
#include <filesystem>

#include "config/run_config.h"
#include "train/run/run_identity.h"

namespace mpitron::train {

/// `folder/run.json`: what readers of metrics.jsonl need to know of the run that writes it: ranks
/// and layout, sizes of a step, its FLOPs, the options given and all of them. A run that goes on
/// in the folder writes it again. Error(data) when that fails.
void write_run_description(const std::filesystem::path& folder, const config::RunConfig& config,
                           const RunIdentity& identity);

}  // namespace mpitron::train
