#pragma once
#include <string>

#include "config/sources/given_option.h"

namespace mpitron::config {

/// A checkpoint's configuration, as far as a run asks for it.
struct CheckpointArguments {
  std::string configuration;  // JSON: {"num_layers": 12, ...}, as values_json writes it
  std::string path;           // for messages and provenance
  bool layout = false;        // --use-mp-args-from-checkpoint-args
  bool tokenizer = true;      // not --no-use-tokenizer-model-from-checkpoint-args
};

/// Implements --use-checkpoint-args: the options that decide which tensors a model has take the
/// checkpoint's values, whatever the user gave; a notice names each that was given otherwise. A
/// configuration that is not JSON is a finding.
void adopt_checkpoint_arguments(const CheckpointArguments& checkpoint, OptionValues& values,
                                Reading& report);

/// Names and values of the options that decide which tensors a model has, where two configurations
/// differ: "num_layers 12, here 24; ..."; empty if they agree.
std::string model_differences(const std::string& checkpoint_configuration,
                              const std::string& configuration);
/// Names options that change what a model computes with the same tensors, in the same form.
std::string function_differences(const std::string& checkpoint_configuration,
                                 const std::string& configuration);
/// Names all options but folders, in the same form.
std::string all_differences(const std::string& checkpoint_configuration,
                            const std::string& configuration);
/// Names the options that decide how many tokens a tokenizer knows, in the same form.
std::string vocabulary_differences(const std::string& checkpoint_configuration,
                                   const std::string& configuration);
/// Names the options that decide how the optimizer's state is stored, in the same form.
std::string state_type_differences(const std::string& checkpoint_configuration,
                                   const std::string& configuration);

}  // namespace mpitron::config
