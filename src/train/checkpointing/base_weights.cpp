#include "train/checkpointing/base_weights.h"

#include <charconv>
#include <set>

#include <fmt/ranges.h>

#include "checkpoint/plan/agreement.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/host_copy.h"
#include "train/checkpointing/checkpoint_source.h"
#include "train/checkpointing/checkpoint_state.h"
#include "train/checkpointing/load_differences.h"
#include "utils/error.h"
#include "utils/log.h"

// The weights under low-rank updates. They come from a checkpoint or a Hugging Face folder, are not
// trained and not saved; a fingerprint in the checkpoint of the updates keeps them from being put
// on others.

namespace mpitron::train {
namespace {

/// Hashes the bytes of all tensors, by their hashes in the order of the file.
std::string fingerprint(const checkpoint::File& file) {
  std::string hashes;
  for (const checkpoint::Extent& extent : file.extents()) {
    hashes += extent.hash.hex();
  }
  return hash128_hex(hashes);
}

/// The newest checkpoint of --pretrained-checkpoint.
CheckpointSource newest_base(comm::World& world, config::CheckpointConfig config) {
  config.load.reset();
  config.ckpt_step.reset();
  const std::vector<CheckpointSource> sources = checkpoint_sources(world, config);
  if (sources.empty()) {
    throw Error(ExitCode::data,
                fmt::format("--pretrained-checkpoint {}: there is no complete checkpoint",
                            *config.pretrained_checkpoint),
                true);
  }
  return sources.front();
}

/// The name of a factor in a folder of PEFT, in Llama's words or in Llama 4's.
std::string peft_name(const autograd::Parameter& parameter, const io::PeftFolder& folder) {
  const auto [module, factor] = factor_name(parameter);
  const auto named = [&, &factor = factor](const std::string& place) {
    return io::kPeftPrefix + place + "." + factor;
  };
  const std::string other = named(config::module_of_llama4(module));
  return folder.weights().find(other) != nullptr ? other : named(module);
}

/// Says what is wrong with the file's tensor of this parameter; empty where it fits.
std::string problem_of(const autograd::Parameter& parameter, const io::PeftFolder& folder) {
  const std::string name = peft_name(parameter, folder);
  const auto* const tensor = folder.weights().find(name);
  if (tensor == nullptr) {
    return name + " is missing";
  }
  const bool fits = tensor->shape == std::vector<Index>{parameter.shape[0], parameter.shape[1]};
  return fits ? ""
              : fmt::format("{} is {}, here {}", name, fmt::join(tensor->shape, " x "),
                            to_string(parameter.shape));
}

/// A tensor of a file of PEFT becomes the parameter's value.
void take_stored(device::Device& device, const io::SafetensorsFile::Tensor& stored,
                 autograd::Parameter& parameter) {
  const auto dtype = io::dtype_of(stored.type);
  if (!dtype) {
    throw_data("{}: has the type {}, which is no floating-point type", stored.name,
               io::safetensors_name(stored.type));
  }
  take_values(device, {stored.data.data(), *dtype, parameter.shape}, parameter);
}

constexpr std::string_view kLayers = "layers.";

/// The layer of a module, by the beginning of its name: `model.layers.3.`; empty outside of layers.
std::string layer_of(const std::string& module) {
  const std::size_t at = module.find(kLayers);
  const std::size_t dot = at == module.npos ? at : module.find('.', at + kLayers.size());
  return dot == module.npos ? "" : module.substr(0, dot + 1);
}

constexpr std::string_view kExpertsPart = ".experts.";

/// The expert of a module, by the beginning of its name: `model.layers.3.mlp.experts.5.`; empty
/// outside of experts.
std::string expert_of(const std::string& module) {
  const std::size_t at = module.find(kExpertsPart);
  const std::size_t dot = at == module.npos ? at : module.find('.', at + kExpertsPart.size());
  return dot == module.npos ? "" : module.substr(0, dot + 1);
}

/// Part of a model that this rank has.
struct PartHere {
  Index layers = 0;            // of the whole model
  std::set<std::string> here;  // this rank's, by layer_of and expert_of
  bool experts = false;        // some of them have experts
};

/// Says what is wrong with a module of the folder that no parameter of this rank has factors of;
/// empty where another rank may have them.
std::string problem_of(const std::string& module, const PartHere& part) {
  const std::string layer = layer_of(module);
  const char* const end = layer.data() + layer.size();
  Index number = 0;  // from 0, as in their names
  if (!layer.empty() &&
      std::from_chars(layer.data() + layer.find(kLayers) + kLayers.size(), end, number).ec ==
          std::errc() &&
      number >= part.layers) {
    return fmt::format("{}: the model has {} layers", module, part.layers);
  }
  const std::string expert = expert_of(module);
  if (!expert.empty() && part.here.contains(expert)) {
    return module + " is updated, and the first expert of its rank is not";
  }
  const bool elsewhere =
      (part.experts && !expert.empty()) || (!layer.empty() && !part.here.contains(layer));
  return elsewhere ? "" : module + " is not in the model";
}

/// The first of some lines, and how many there are beside them.
std::string first_lines(const std::vector<std::string>& lines) {
  constexpr std::size_t kShown = 8;
  const std::size_t shown = std::min(lines.size(), kShown);
  const std::string rest =
      lines.size() > shown ? fmt::format("\n  and {} more", lines.size() - shown) : "";
  return fmt::format("\n  {}{}", fmt::join(lines.begin(), lines.begin() + shown, "\n  "), rest);
}

using checkpoint::LoadTarget;

/// Fills parameters that are kept in 4 bits, one after the other: no more than one of them has its
/// value at a time. Every rank takes as many turns as the one that has most of them.
void read_in_4_bits(TrainedModel& model, device::Device& device,
                    checkpoint::CheckpointReader& reader, std::vector<LoadTarget> targets) {
  const auto turns = static_cast<std::size_t>(
      model.world().all()->reduce(static_cast<double>(targets.size()), comm::Reduction::maximum));
  for (std::size_t i = 0; i < turns; ++i) {
    if (i >= targets.size()) {
      reader.read({});
      continue;
    }
    LoadTarget& target = targets[i];
    autograd::Parameter& parameter =
        *model.parameters().find(target.tensor.name.substr(std::string_view("model/").size()));
    autograd::open_kept_weight(device, parameter);
    target.tensor.value = parameter.value.reshape(target.tensor.value.shape).view();
    reader.read({&target, 1});
    autograd::pack_kept_weight(device, parameter);
  }
}

}  // namespace

/// Reads what is not trained. The result identifies these weights: it goes into every checkpoint of
/// the updates.
std::string load_base_weights(TrainedModel& model, TrainStep& step,
                              const config::CheckpointConfig& config, const RunIdentity& identity) {
  if (!config.pretrained_checkpoint) {
    if (config.allow_random_init) {
      return "";
    }
    throw_usage(
        "--lora-rank: --pretrained-checkpoint is missing, the folder of the model whose weights "
        "are "
        "kept");
  }
  const CheckpointSource source = newest_base(model.world(), config);
  checkpoint::CheckpointReader reader(model.world(), source.file);
  refuse_other_tokenizer(reader.file(), identity.files, true);
  StateToLoad state(reader.file().header(), false);
  step.visit_kept(state);
  refuse_differences(reader, state.tensors(),
                     {.state = state,
                      .with_optimizer = false,
                      .with_histories = false,
                      .strictness = config.dist_ckpt_strictness});
  tensor::HostMirror mirror(step.device());
  std::vector<LoadTarget> targets, in_4_bits;
  for (const LoadTarget& target : state.tensors()) {
    const bool packed = target.tensor.value.data == nullptr && target.tensor.value.numel() > 0;
    (packed ? in_4_bits : targets).push_back(target);
    if (!packed) {
      targets.back().tensor = mirror.of(target.tensor);
    }
  }
  mirror.wait();
  const std::string why = checkpoint::first_error(*model.world().all(), checkpoint::error_of([&] {
    reader.read(targets);
    read_in_4_bits(model, step.device(), reader, in_4_bits);
  }));
  if (!why.empty()) {
    throw Error(ExitCode::data, why, true);
  }
  mirror.write_back();
  log::print(fmt::format("  kept weights from {}", source.file.string()));
  return fingerprint(reader.file());
}

/// Refuses a checkpoint of updates that belong to other weights: they would fit in shape and give
/// another model.
void refuse_updates_of_others(const std::filesystem::path& path, const std::string& fingerprint) {
  const auto texts = checkpoint::File(path).header().texts;
  const auto stored = texts.find(kBaseFingerprint);
  if (stored == texts.end() || stored->second == fingerprint) {
    return;
  }
  const bool here = fingerprint.ends_with(kIn4Bits);
  if (here ? stored->second + kIn4Bits == fingerprint : fingerprint + kIn4Bits == stored->second) {
    throw_data("{}: holds updates of these weights {} --lora-base-weights nf4; go on as it began",
               path.string(), here ? "without" : "with");
  }
  throw_data(
      "{}: holds updates of other weights than those of --pretrained-checkpoint; name the folder "
      "that the run began with",
      path.string());
}

/// PEFT's adapter_config.json of the updates, so that other programs know rank and targets.
std::string stored_adapter_config(const config::LoraConfig& config, const std::string& base) {
  io::PeftConfig stored{.rank = config.rank,
                        .alpha = config.alpha,
                        .dropout = config.dropout,
                        .rank_stabilised = config.rank_stabilised,
                        .target_modules = config.target_modules,
                        .rank_pattern = {},
                        .alpha_pattern = config.alpha_pattern,
                        .base_model = base};
  for (const auto& [module, rank] : config.rank_pattern) {
    stored.rank_pattern[module] = static_cast<double>(rank);
  }
  return io::peft_config_json(stored);
}

/// Rank, alpha and targets as PEFT has written them, in Llama's words.
config::LoraConfig adapter_config(const io::PeftFolder& folder, bool base_in_4_bits) {
  const io::PeftConfig& stored = folder.config();
  config::LoraConfig config{.rank = stored.rank,
                            .alpha = stored.alpha,
                            .dropout = stored.dropout,
                            .rank_stabilised = stored.rank_stabilised,
                            .target_modules = {},
                            .rank_pattern = {},
                            .alpha_pattern = {},
                            .base_in_4_bits = base_in_4_bits};
  for (const std::string& module : folder.modules()) {
    config.target_modules.push_back(config::module_of_llama(module));
  }
  for (const auto& [module, rank] : stored.rank_pattern) {
    config.rank_pattern[config::module_of_llama(module)] = static_cast<Index>(rank);
  }
  for (const auto& [module, alpha] : stored.alpha_pattern) {
    config.alpha_pattern[config::module_of_llama(module)] = alpha;
  }
  return config;
}

FactorName factor_name(const autograd::Parameter& parameter) {
  const std::size_t factor = parameter.name.find("lora_");
  return {config::module_name(parameter.name.substr(0, factor)), parameter.name.substr(factor)};
}

/// Takes factors of a PEFT folder for each parameter that has them; modules of the folder that no
/// parameter of any rank can take are an error, since their effect would be missing.
void take_adapter(device::Device& device, autograd::ParameterList& parameters, Index layers,
                  const io::PeftFolder& folder) {
  std::set<std::string> unused;
  for (const std::string& module : folder.modules()) {
    unused.insert(config::module_of_llama(module));
  }
  PartHere part{.layers = layers};
  std::vector<std::string> problems;
  for (autograd::Parameter& parameter : parameters) {
    part.experts = part.experts || parameter.placement.expert;
    part.here.insert(layer_of(config::module_name(parameter.name)));
    part.here.insert(expert_of(config::module_name(parameter.name)));
    if (!parameter.role.low_rank) {
      continue;
    }
    unused.erase(factor_name(parameter).module);
    const std::string problem = problem_of(parameter, folder);
    if (problem.empty()) {
      take_stored(device, folder.weights().at(peft_name(parameter, folder)), parameter);
    } else {
      problems.push_back(problem);
    }
  }
  std::vector<std::string> lacking;  // told first: layers that the model has not say most
  for (const std::string& module : unused) {
    if (const std::string problem = problem_of(module, part); !problem.empty()) {
      lacking.push_back(problem);
    }
  }
  problems.insert(problems.begin(), lacking.begin(), lacking.end());
  if (!problems.empty()) {
    throw_data("{}: is for another model:{}", folder.path().string(), first_lines(problems));
  }
}

/// Each rank takes its rows or columns of the factors of a folder of PEFT.
void load_adapter(TrainedModel& model, TrainStep& step, const std::string& path) {
  take_adapter(step.device(), model.parameters(), model.chunk(0).config().num_layers,
               io::PeftFolder(path));
  step.values_loaded(false);
  log::print(fmt::format("  low-rank updates from {}", path));
}

void take_values(device::Device& device, const device::ConstTensorView& stored,
                 autograd::Parameter& parameter) {
  const tensor::Tensor local = tensor::empty_on_host(device, parameter.local_shape(), stored.dtype);
  tensor::take_shard(stored, parameter.placement.shard, local.view());
  const tensor::Tensor values = tensor::to_device(device, local);
  autograd::open_kept_weight(device, parameter);
  device::launch(device.stream(), kernels::Cast{.x = values.view(), .y = parameter.value.view()});
  autograd::pack_kept_weight(device, parameter);
}

/// Copies converted weights into the model; heads that they lack keep their first values and are
/// named in the log.
void load_foreign_weights(TrainedModel& model, TrainStep& step, const ForeignWeights& weights) {
  const bool new_head = model.chunk(0).config().text_head.has_value();
  std::string problems, fresh;
  for (autograd::Parameter& parameter : model.parameters()) {
    if (parameter.role.low_rank) {
      continue;
    }
    if (!weights.has(parameter.name)) {
      if (weights.part) {
        continue;
      }
      const bool begins_anew = new_head && is_of_a_head("model/" + parameter.name);
      (begins_anew ? fresh : problems) +=
          begins_anew ? " " + parameter.name : "\n  missing: " + parameter.name;
      continue;
    }
    weights.read(parameter.name, [&](const device::ConstTensorView& stored) {
      if (stored.shape == parameter.shape) {
        take_values(step.device(), stored, parameter);
      } else {
        problems += fmt::format("\n  {}: stored {}, here {}", parameter.name,
                                to_string(stored.shape), to_string(parameter.shape));
      }
    });
  }
  if (!problems.empty()) {
    throw_data(
        "{} does not fit this run:{}\n--use-checkpoint-args takes the model's options from "
        "there",
        weights.path, problems);
  }
  step.values_loaded(false);
  log::print(fmt::format("  weights from {}{}", weights.path,
                         weights.part    ? "; the rest begins anew"
                         : fresh.empty() ? ""
                                         : "; begin anew:" + fresh));
}

}  // namespace mpitron::train
