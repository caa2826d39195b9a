#pragma once
#include <string>
#include <vector>

#include "convert/description/model_description.h"
#include "convert/formats/tensor_source.h"
#include "io/arrays/torch_archive.h"

namespace mpitron::convert {

/// How tensor parallel ranks of Megatron divide a parameter.
enum class Division {
  whole,  // everyone has all of it
  rows,   // each has its rows of the first part, then of the next one (`parts_of`)
  columns
};
/// Returns the division by our name of the parameter; whole for names that are not known to be cut.
Division division_of(const std::string& our_name);

/// A part of a parameter's rows, in their order, and what torch_dist's key of it ends with, behind
/// a point; empty where all parts have one key.
struct RowPart {
  Index rows = 0;
  const char* name = "";
};
/// Returns the parts of a parameter of so many rows that are cut each for itself: the halves of
/// gated layers, the projections and convolutions of Mamba and delta nets; else one part.
std::vector<RowPart> parts_of(const std::string& our_name, const config::ModelConfig& model,
                              Index rows);

/// Returns our name of a Megatron parameter: without the wrapper's `module.`; norms that
/// Transformer Engine keeps inside linear layers have the names of the local specification, and a
/// convolution of later releases that of the first ones.
std::string our_name_of(std::string name);

/// The table of learned positions.
inline constexpr const char* kPositions = "embedding.position_embeddings.weight";

/// Returns whether a name is that of Transformer Engine's states of fp8 scaling, which are no
/// weights.
bool is_extra_state(const std::string& name);

/// Returns the model that the arguments of a Megatron checkpoint (a Namespace, or a dictionary)
/// describe. They always name learned positions where nobody chose others: `has_positions` tells
/// whether the model has a tensor of them. `source` names the file in errors.
ModelDescription read_megatron_arguments(const io::PickleValue& arguments,
                                         const std::string& source, bool has_positions);

/// Returns type and shape of a torch tensor as ours. Error(data) for types and ranks that weights
/// do not have.
TensorInfo info_of(const io::TorchTensor& tensor, const std::string& name,
                   const std::string& source);

}  // namespace mpitron::convert
