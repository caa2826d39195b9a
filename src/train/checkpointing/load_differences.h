#pragma once
#include <map>
#include <span>
#include <string>

#include "checkpoint/format/file.h"
#include "checkpoint/read/checkpoint_reader.h"
#include "tokenizers/core/tokenizer.h"
#include "train/checkpointing/checkpoint_state.h"
#include "train/run/run_identity.h"

namespace mpitron::train {

/// State that a run asks a checkpoint for.
struct WantedState {
  const StateToLoad& state;
  bool with_optimizer = true;
  bool with_histories = true;     // of 8-bit scales
  const std::string& strictness;  // --dist-ckpt-strictness
  bool new_head = false;          // what makes words or classes of a text may differ
};

/// Whether a tensor of a checkpoint ("model/...") is a part of what stands behind the layers.
bool is_of_a_head(const std::string& name);

/// Compares a checkpoint with the tensors that want its values. Error(data) with all differences at
/// once, but for those that --dist-ckpt-strictness lets pass, and warns of these where it says so.
void refuse_differences(checkpoint::CheckpointReader& reader,
                        std::span<const checkpoint::LoadTarget> targets, const WantedState& wanted);

/// In what a checkpoint's model is another one than the run's although all tensors may fit: options
/// that no shape shows, and the number of tokens, since the rows of a vocabulary are padded.
/// "num_attention_heads 12, here 24; 512 tokens, here 601 (vocab_size 511, here 600)"; empty where
/// they agree or the checkpoint does not say.
std::string model_differences(const checkpoint::Header& header, const RunIdentity& identity);

/// The files that the tokenizer read, by their names without folders: a checkpoint keeps them.
/// Error(data) where one cannot be read.
std::map<std::string, std::string> tokenizer_files(const tokenizers::Tokenizer& tokenizer);

/// Error(data) naming both where the checkpoint was trained with another tokenizer than the run's
/// `files`; only a warning where just its weights are taken. A checkpoint without files says
/// nothing.
void refuse_other_tokenizer(const checkpoint::File& checkpoint,
                            const std::map<std::string, std::string>& files, bool only_warn);

}  // namespace mpitron::train
