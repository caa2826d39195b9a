#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "config/checkpoint_config.h"
#include "config/lora_config.h"
#include "io/arrays/peft_folder.h"
#include "train/run/run_identity.h"
#include "train/step/train_step.h"

namespace mpitron::train {

/// Name under which a checkpoint of low-rank updates keeps the fingerprint of the weights that they
/// belong to.
inline constexpr const char* kBaseFingerprint = "low_rank/base";
/// Mark behind the fingerprint where these weights were kept in 4 bits.
inline constexpr const char* kIn4Bits = " in 4 bits";
/// Error(data) where a checkpoint holds updates of other weights, or of the same in other bits.
void refuse_updates_of_others(const std::filesystem::path& file, const std::string& fingerprint);

/// Fills the parameters that a run with --lora-rank does not train from the newest checkpoint of
/// --pretrained-checkpoint, and returns the fingerprint of its tensors. All ranks call it. Without
/// the option (--allow-random-init) they stay as they are, and there is none. Error(data) where the
/// checkpoint is incomplete or of another model.
std::string load_base_weights(TrainedModel& model, TrainStep& step,
                              const config::CheckpointConfig& config, const RunIdentity& identity);

/// adapter_config.json of these updates (checkpoint::kAdapterConfig).
std::string stored_adapter_config(const config::LoraConfig& config, const std::string& base);

/// The updates that a folder of PEFT holds, by the names of its tensors, of weights that are kept
/// in 4 bits or not.
config::LoraConfig adapter_config(const io::PeftFolder& folder, bool base_in_4_bits = false);

/// What a low-rank factor belongs to and what it is in a folder of PEFT.
struct FactorName {
  std::string module;  // model.layers.0.self_attn.q_proj
  std::string factor;  // lora_A.weight or lora_B.weight
};
FactorName factor_name(const autograd::Parameter& parameter);

/// This rank's part of the updates of a folder of PEFT become the values of the low-rank factors
/// among `parameters`, which are those of a model with so many layers. Error(data) where modules or
/// shapes are not those of the model: the first are listed.
void take_adapter(device::Device& device, autograd::ParameterList& parameters, Index layers,
                  const io::PeftFolder& folder);

/// Starts the updates with those of --load-adapter, a folder of PEFT. All ranks call it.
void load_adapter(TrainedModel& model, TrainStep& step, const std::string& folder);

/// Weights in another program's files, which a run begins with in place of a checkpoint.
struct ForeignWeights {
  std::string path;
  Index vocabulary_rows = 0;  // of the embedding
  bool part = false;          // of a model, the rest of which begins anew
  std::function<bool(const std::string& parameter)> has;
  /// Calls use(whole tensor) with memory of the host, of any type and at any address.
  std::function<void(const std::string& parameter,
                     const std::function<void(device::ConstTensorView)>& use)>
      read;
  std::function<std::string()> fingerprint;  // of all tensors
};

/// Fills this rank's parameters but those of low-rank updates; those of a head of texts that the
/// files lack stay as they are, and so does what a part of a model lacks. Error(data) lists tensors
/// that are missing or of another shape.
void load_foreign_weights(TrainedModel& model, TrainStep& step, const ForeignWeights& weights);

/// This rank's part of a stored tensor becomes the parameter's value, in its type.
void take_values(device::Device& device, const device::ConstTensorView& stored,
                 autograd::Parameter& parameter);

}  // namespace mpitron::train
