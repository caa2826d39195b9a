#pragma once
#include <string>
#include <vector>

#include "inference/engine_interface.h"
#include "models/base/model.h"

namespace mpitron::cli {

/// An adapter as a user names it.
struct AdapterFolder {
  std::string name, folder;
};

/// Reads the words behind --adapter: NAME=FOLDER, or a folder whose last part is the name.
/// Error(usage) for names that requests cannot have, `model`'s own and one that is given twice.
std::vector<AdapterFolder> adapter_folders(const std::vector<std::string>& words,
                                           const std::string& model);

/// The updates of a folder of PEFT for a model in memory, or for this rank's `share` of it.
/// Error(data) where a file is missing or the folder is for another model; Error(usage) for
/// updates that generation cannot add: of experts that lie in shards.
inference::AdapterHandle read_adapter(device::Device& device, const config::ModelConfig& config,
                                      models::Model::Share share, Index number,
                                      const std::string& folder);

}  // namespace mpitron::cli
