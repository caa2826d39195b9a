#pragma once
#include "autograd/parameter.h"
#include "autograd/var.h"

namespace mpitron::nn {

/// Result of a sub-block for the residual stream: its output, and the bias that the residual
/// addition fuses.
struct BranchOutput {
  autograd::Var output;  // [s, b, h]
  autograd::Parameter* bias = nullptr;
};

/// The random numbers of one layer: which use draws them (RngKey::site).
enum class DropoutSite : std::uint32_t {
  embedding = 0,
  attention_probabilities = 1,
  attention_output = 2,
  mlp_output = 3,
  decoder_embedding = 4,  // of an encoder-decoder, whose encoder has site 0
  cross_attention_probabilities = 5,
  cross_attention_output = 6,
  router_input = 7,
  router_logits = 8,
  low_rank_qkv = 9,
  low_rank_proj = 10,
  low_rank_fc1 = 11,
  low_rank_fc2 = 12,
  pooled = 13,         // what a head of whole samples reads
  low_rank_q_up = 14,  // of latent attention
  low_rank_kv_up = 15,
  drop_path = 16  // plus the site of the branch
};

}  // namespace mpitron::nn
