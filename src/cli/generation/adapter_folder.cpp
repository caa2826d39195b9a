#include "cli/generation/adapter_folder.h"

#include <filesystem>
#include <set>

#include "autograd/cached_pass.h"
#include "inference/engine_choice.h"
#include "inference/protocol/served_adapters.h"
#include "models/make_model.h"
#include "train/checkpointing/base_weights.h"
#include "utils/error.h"

// Low-rank adapters of --adapter: which names they have, and their factors read from a folder of
// PEFT into memory beside the served model, whose own weights are not loaded twice.

namespace mpitron::cli {
namespace {

using autograd::Adapter;
using autograd::Parameter;

/// Takes the text before `=` as the name, unless a slash stands before it: a path may hold `=`.
AdapterFolder folder_of(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals != word.npos && word.find('/') > equals) {
    return {word.substr(0, equals), word.substr(equals + 1)};
  }
  return {(std::filesystem::path(word) / "").lexically_normal().parent_path().filename(), word};
}

}  // namespace

std::vector<AdapterFolder> adapter_folders(const std::vector<std::string>& words,
                                           const std::string& model) {
  std::vector<AdapterFolder> folders;
  std::set<std::string> names = {model};
  for (const std::string& word : words) {
    folders.push_back(folder_of(word));
    const AdapterFolder& last = folders.back();
    if (!inference::is_adapter_name(last.name)) {
      throw_usage("--adapter {}: {}", word, inference::kAdapterNames);
    }
    if (!names.insert(last.name).second) {
      throw_usage("--adapter {}: the name {} is taken; give another: NAME={}", word, last.name,
                  last.folder);
    }
  }
  return folders;
}

/// Describes the model again with low-rank factors and gives memory to these alone; the checkpoint
/// loader then fills them by name, cut as this rank's share is.
inference::AdapterHandle read_adapter(device::Device& device, const config::ModelConfig& config,
                                      models::Model::Share share, Index number,
                                      const std::string& path) {
  if (const std::string missing = inference::no_cached_path(config);
      !missing.empty() || config.family().encoder_decoder) {
    throw_usage("--adapter {}: {}", path,
                missing.empty() ? "adapters of models with an encoder are not served" : missing);
  }
  const io::PeftFolder folder(path);
  config::ModelConfig updated = config;
  updated.lora = train::adapter_config(folder);
  const std::shared_ptr<autograd::ParameterList> parameters = share.parameters;
  models::make_model(updated, device, std::move(share));
  std::map<std::string, Adapter::Factors> factors;
  for (Parameter& parameter : *parameters) {
    if (!parameter.role.low_rank) {
      continue;
    }
    const auto [module, factor] = train::factor_name(parameter);
    parameter.value = tensor::Tensor::empty(
        device, parameter.placement.shard.local(parameter.shape), config.params_dtype);
    Adapter::Factors& of_module = factors[module];
    (factor.starts_with("lora_A") ? of_module.a : of_module.b) = &parameter;
    // An expert that the folder does not name is refused below, by the tensors that it lacks.
    const auto update = updated.lora->update_of(module);
    of_module.scale = update ? update->scale : 1;
  }
  train::take_adapter(device, *parameters, config.num_layers, folder);
  return std::make_shared<Adapter>(device, config.params_dtype, number, parameters,
                                   std::move(factors));
}

}  // namespace mpitron::cli
