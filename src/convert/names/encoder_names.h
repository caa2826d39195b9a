#pragma once
#include <span>

#include "convert/names/name_entry.h"

namespace mpitron::convert {

/// MegatronBertForPreTraining: BERT with norms before the branches of a layer, as ours.
std::span<const EntryBlock> megatron_bert_names();
/// T5 with gated feed-forward layers and an output matrix of its own, as UL2 (Tay et al. 2022).
/// Theirs does not scale the scores of attention: queries take the square root of the head's width
/// along. Theirs has no bias of the output.
std::span<const EntryBlock> t5_names();

}  // namespace mpitron::convert
