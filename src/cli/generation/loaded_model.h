#pragma once
#include "cli/data/tokenizer_flags.h"
#include "device/device.h"
#include "inference/engine_choice.h"

namespace mpitron::cli {

/// Options of the commands that generate text.
struct ModelOptions {
  std::string load;
  tokenizers::TokenizerOptions tokenizer{.type = ""};
  Index max_requests = 8;
  Index block_size = 16;
  Index max_tokens = 512;  // of a step
  std::string weights = "auto";

  void declare(Flags& flags);
};

/// A model in memory that generates, with its tokenizer. Kokkos must run (device::HostRuntime).
struct LoadedModel {
  /// A checkpoint of mpitron or Megatron, or a Hugging Face folder, whose tokenizer is taken where
  /// no other is chosen. Error(usage) for kinds of models that do not generate.
  explicit LoadedModel(const ModelOptions& options);

  std::string name;  // of the folder
  std::unique_ptr<device::Device> device;
  std::unique_ptr<tokenizers::Tokenizer> tokenizer;
  std::unique_ptr<models::Model> model;
  std::unique_ptr<inference::Engine> engine;
};

}  // namespace mpitron::cli
