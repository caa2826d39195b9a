#pragma once
#include <string>

#include "convert/description/model_description.h"
#include "convert/formats/tensor_source.h"
#include "io/arrays/torch_archive.h"

namespace mpitron::convert {

/// How tensor parallel ranks of Megatron divide a parameter.
enum class Division {
  whole,       // everyone has all of it
  rows,        // one below the other; of linear_qkv whole query groups
  gated_rows,  // each has its rows of the gate, then its rows of the other half
  columns
};
Division division_of(const std::string& our_name, const config::ModelConfig& model);

/// Our name of a Megatron parameter: without the wrapper's `module.`; norms that Transformer Engine
/// keeps inside linear layers have the names of the local specification.
std::string our_name_of(std::string name);

/// Not a weight: states of fp8 scaling.
bool is_extra_state(const std::string& name);

/// The model that the arguments of a Megatron checkpoint (a Namespace, or a dictionary) describe.
ModelDescription read_megatron_arguments(const io::PickleValue& arguments,
                                         const std::string& source);

/// Type and shape of a torch tensor as ours. Error(data) for types and ranks that weights do not
/// have.
TensorInfo info_of(const io::TorchTensor& tensor, const std::string& name,
                   const std::string& source);

}  // namespace mpitron::convert
