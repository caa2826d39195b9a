#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/command.h"
#include "config/sources/checkpoint_arguments.h"
#include "train/checkpointing/base_weights.h"
#include "train/session/session.h"

namespace mpitron::cli {

/// A command's work on the model after a run that has ended well; all ranks call it.
using AfterRun = std::function<void(device::Device&, train::Session&)>;

/// Trains a model of this kind (a choice of --model) with the reference's flags, then calls
/// `after`.
/// Returns the exit code.
int run_model(const std::string& kind, const Arguments& words, const AfterRun& after);

/// A Hugging Face folder in place of a checkpoint: its options, where they are asked for, and its
/// weights.
struct ForeignModel {
  std::optional<config::CheckpointArguments> arguments;
  std::shared_ptr<const train::ForeignWeights> weights;
};

/// Takes --load or --pretrained-checkpoint, where it names a folder of Hugging Face, and
/// --use-checkpoint-args out of the arguments; nothing where neither does. Without a tokenizer
/// among the arguments they get the folder's own, and with its options its longest sequence unless
/// another is given.
std::optional<ForeignModel> take_foreign_model(Arguments& arguments);

}  // namespace mpitron::cli
