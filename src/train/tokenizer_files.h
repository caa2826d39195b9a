#pragma once
#include <map>
#include <string>

#include "checkpoint/file.h"
#include "config/data_config.h"

namespace mpitron::train {

/// The files of the run's tokenizer, by their names without folders: a checkpoint keeps them.
/// Error(data) where one cannot be read.
std::map<std::string, std::string> tokenizer_files(const config::DataConfig& config);

/// Error(data) naming both where the checkpoint was trained with another tokenizer than the run's
/// `files`; only a warning where just its weights are taken. A checkpoint without files says
/// nothing.
void refuse_other_tokenizer(const checkpoint::File& checkpoint,
                            const std::map<std::string, std::string>& files, bool only_warn);

}  // namespace mpitron::train
