#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"
#include "config/sources/given_option.h"

// Rules of models with an encoder, BERT and T5: options that only they read, and layers and layouts
// that they do not have.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Lists those of the options that were given with another value than their default.
std::string given_of(const Facts& f, std::initializer_list<const char*> dests) {
  std::vector<std::string> given;
  for (const char* dest : dests) {
    const std::size_t slot = option_index().slot_of_dest(dest);
    if (f.values.given(dest) && !is_default(option_index().option(slot), f.values.words(dest))) {
      given.emplace_back(dest);
    }
  }
  return fmt::format("{}", fmt::join(given, ", "));
}

/// Refuses options that the model would ignore without a word.
Result options_of_the_model(const Facts& f) {
  const ModelFamily& family = f.run.model.family();
  std::string foreign;
  const auto add = [&](const std::string& given, const char* models) {
    if (!given.empty()) {
      foreign += fmt::format("{}{} (of {})", foreign.empty() ? "" : "; ", given, models);
    }
  };
  if (family.samples != SampleKind::sentence_pairs) {
    add(given_of(f, {"bert_binary_head"}), "bert");
  }
  if (!family.padded()) {
    add(given_of(f, {"mask_prob", "short_seq_prob"}), "bert and t5");
  }
  if (!family.encoder_decoder) {
    add(given_of(f, {"decoder_seq_length", "decoder_num_layers", "relative_attention_num_buckets",
                     "relative_attention_max_distance"}),
        "t5");
  }
  return foreign.empty()
             ? Result()
             : Violation{fmt::format("--model {} is given {}", f.values.text("model"), foreign),
                         ""};
}

/// Refuses kinds of layers, and what cuts a stream of tokens into samples: an encoder's samples are
/// texts of their own.
Result plain_layers(const Facts& f) {
  if (f.run.model.family().decoder_only) {
    return {};
  }
  std::string given = given_of(
      f, {"num_experts", "multi_latent_attention", "mtp_num_layers", "no_rope_freq", "qk_layernorm",
          "qk_l2_norm", "use_rope_scaling", "reset_position_ids", "reset_attention_mask",
          "dataloader_inter_document_masking", "fim_data", "eod_mask_loss", "sample_prompt"});
  if (given.empty() && f.run.model.rotary_base != ModelConfig().rotary_base) {
    given = "rotary_base";
  }
  return given.empty() ? Result() : Violation{"given: " + given, "--model gpt"};
}

Result whole_sequences(const Facts& f) {
  const Index ranks = f.run.parallel.context_parallel_size;
  return !f.run.model.family().decoder_only && ranks > 1
             ? Violation{fmt::format("{} ranks", ranks), "--context-parallel-size 1"}
             : Result();
}

Result masked_objectives(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.family().padded()) {
    return {};
  }
  const bool pairs = m.family().samples == SampleKind::sentence_pairs;
  if (pairs && f.run.training.calculate_per_token_loss) {
    return Violation{"--calculate-per-token-loss with bert, whose losses are means of microbatches",
                     ""};
  }
  if (m.family().encoder_decoder && m.untie_embeddings_and_output_weights) {
    return Violation{"--untie-embeddings-and-output-weights with t5, whose output layer is tied",
                     ""};
  }
  const DataConfig& d = f.run.data;
  if (d.mask_prob > 0 && d.mask_prob < 1 && d.short_seq_prob >= 0 && d.short_seq_prob <= 1) {
    return {};
  }
  return Violation{fmt::format("mask_prob {}, short_seq_prob {}", d.mask_prob, d.short_seq_prob),
                   "--mask-prob 0.15 --short-seq-prob 0.1"};
}

constexpr std::array kEncoderRules = std::to_array<Constraint>({
    {"E153", "options_of_the_model", "options of one kind of model need that --model",
     "model bert-no-binary-head mask-prob short-seq-prob decoder-seq-length decoder-num-layers "
     "relative-attention-num-buckets relative-attention-max-distance",
     "pretrain-gpt, pretrain-bert and pretrain-t5 set --model; an option that the model does not "
     "read would be ignored.",
     options_of_the_model},
    {"E154", "plain_layers", "BERT and T5 have dense layers and samples of their own",
     "model num-experts multi-latent-attention mtp-num-layers no-rope-freq qk-layernorm "
     "qk-l2-norm rotary-base use-rope-scaling "
     "reset-position-ids reset-attention-mask eod-mask-loss sample-prompt",
     "Experts, latent attention, multi-token prediction, norms of queries and keys, other "
     "rotary frequencies and packed documents are GPT's: the reference's BERT and T5 ignore "
     "them.",
     plain_layers},
    {"E155", "whole_sequences", "context_parallel_size == 1 with BERT and T5",
     "model context-parallel-size",
     "Their sequences are short and padded; attention without a causal mask is not cut.",
     whole_sequences},
    {"E158", "masked_objectives",
     "0 < mask_prob < 1, 0 <= short_seq_prob <= 1; BERT without --calculate-per-token-loss, T5 "
     "with a tied output layer",
     "model mask-prob short-seq-prob calculate-per-token-loss "
     "untie-embeddings-and-output-weights",
     "Losses are taken on masked tokens only.", masked_objectives},
});

}  // namespace

std::span<const Constraint> encoder_constraints() {
  return kEncoderRules;
}

}  // namespace mpitron::config
