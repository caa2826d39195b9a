#pragma once
#include <map>
#include <string>

#include "checkpoint/format/file.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::train {

/// The files that the tokenizer read, by their names without folders: a checkpoint keeps them.
/// Error(data) where one cannot be read.
std::map<std::string, std::string> tokenizer_files(const tokenizers::Tokenizer& tokenizer);

/// Error(data) naming both where the checkpoint was trained with another tokenizer than the run's
/// `files`; only a warning where just its weights are taken. A checkpoint without files says
/// nothing.
void refuse_other_tokenizer(const checkpoint::File& checkpoint,
                            const std::map<std::string, std::string>& files, bool only_warn);

}  // namespace mpitron::train
