#pragma once
#include <filesystem>
#include <memory>

#include "convert/formats/tensor_source.h"
#include "io/arrays/peft_folder.h"
#include "utils/numbers/shape.h"

namespace mpitron::convert {

/// The tensors of a model under Hugging Face's names, with an adapter's updates added to its
/// weights while they are read: W + s B A (Hu et al. 2021). Both arguments live as long as the
/// result. Error(data) where the adapter has modules or shapes that the model does not have: all
/// are listed.
///
/// Numerical contract: B A and the sum in fp32, rounded once to the weight's type.
std::unique_ptr<TensorSource> merged(TensorSource& base, const io::PeftFolder& adapter);

/// Writes the low-rank updates of a checkpoint (a file, its folder, or a folder of checkpoints) as
/// a folder of PEFT, bit for bit. Returns the number of tensors. Error(data) where the checkpoint
/// has none.
Index export_adapter(const std::filesystem::path& checkpoint, const std::filesystem::path& folder);

}  // namespace mpitron::convert
