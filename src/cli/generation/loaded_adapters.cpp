#include "cli/generation/adapter_folder.h"
#include "cli/generation/loaded_model.h"
#include "utils/error.h"

// Adapters of a loaded model.

namespace mpitron::cli {

std::vector<inference::AdapterHandle> LoadedModel::handles() const {
  std::vector<inference::AdapterHandle> handles;
  for (const inference::ServedAdapter& each : adapters_) {
    handles.push_back(each.adapter);
  }
  return handles;
}

inference::AdapterHandle LoadedModel::only_adapter() const {
  if (adapters_.size() > 1) {
    throw_usage(
        "--adapter: {} are given, and an answer has one; name it beside each prompt of generate's "
        "--prompt-file (field adapter), or to mpitron serve",
        adapters_.size());
  }
  return adapters_.empty() ? nullptr : adapters_[0].adapter;
}

inference::AdapterHandle LoadedModel::adapter(const std::string& wanted) const {
  if (wanted == name) {
    return nullptr;
  }
  std::string names = name;
  for (const inference::ServedAdapter& each : adapters_) {
    if (each.name == wanted) {
      return each.adapter;
    }
    names += ", " + each.name;
  }
  throw_usage("--prompt-file: there is no adapter {}; there is {}", wanted, names);
}

void LoadedModel::follow() {
  ranks_.follow(*model_, shape_, handles(),
                [this](const std::string& folder) { return read_adapter(folder); });
}

inference::AdapterHandle LoadedModel::load_adapter(const std::string& folder) {
  auto* const ranks = dynamic_cast<inference::RankEngine*>(engine.get());
  if (ranks == nullptr) {
    return read_adapter(folder);
  }
  return ranks->load_adapter(folder,
                             [this](const std::string& path) { return read_adapter(path); });
}

/// Reads this rank's part; all ranks read the same folders in the same order, which numbers them.
inference::AdapterHandle LoadedModel::read_adapter(const std::string& folder) {
  if (ranks_.on_gpu() && model_->config().multi_latent_attention) {
    throw_usage(
        "--adapter {}: updates of latent attention are served on the host; give --device "
        "host, or a model into which mpitron convert --merge-adapter has put them",
        folder);
  }
  return cli::read_adapter(ranks_.device(), model_->config(), ranks_.share(model_->config(), false),
                           ++adapters_read_, folder);
}

}  // namespace mpitron::cli
