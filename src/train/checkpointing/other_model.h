#pragma once
#include <string>

#include "checkpoint/file.h"
#include "train/run/run_identity.h"

namespace mpitron::train {

/// In what a checkpoint's model is another one than the run's although all tensors may fit: options
/// that no shape shows, and the number of tokens, since the rows of a vocabulary are padded.
/// "num_attention_heads 12, here 24; 512 tokens, here 601 (vocab_size 511, here 600)"; empty where
/// they agree or the checkpoint does not say.
std::string model_differences(const checkpoint::Header& header, const RunIdentity& identity);

}  // namespace mpitron::train
