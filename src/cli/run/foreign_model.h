#pragma once
#include <memory>
#include <optional>

#include "cli/command.h"
#include "config/sources/checkpoint_arguments.h"
#include "train/checkpointing/foreign_weights.h"

namespace mpitron::cli {

/// A Hugging Face folder in place of a checkpoint: its options, where they are asked for, and its
/// weights.
struct ForeignModel {
  std::optional<config::CheckpointArguments> arguments;
  std::shared_ptr<const train::ForeignWeights> weights;
};

/// The folder of --load or --pretrained-checkpoint where it is Hugging Face's, which is taken out
/// of the arguments with --use-checkpoint-args. Without a tokenizer among them they get the
/// folder's own, and with its options its longest sequence unless another is given.
std::optional<ForeignModel> take_foreign_model(Arguments& arguments);

}  // namespace mpitron::cli
