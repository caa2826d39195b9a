#include "config/resolve/derive.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "config/global_batch_size.h"
#include "config/model_family.h"
#include "config/resolve/resolve.h"
#include "config/resolve/unused_options.h"
#include "config/sources/data_files.h"

// Values that follow from others, as Megatron's validate_args fills them. Each derived value keeps
// the sentence that says why, which `config show --provenance` prints. Nothing fails here:
// contradictions are left to the rules.

namespace mpitron::config {
namespace {

std::string number(Index value) {
  return fmt::format("{}", value);
}

/// Turns older spellings that the reference still takes into the options that replaced them.
void derive_replaced_names(OptionValues& v) {
  if (v.flag("use_rotary_position_embeddings")) {
    v.derive("position_embedding_type", "rope", "from --use-rotary-position-embeddings");
  }
  if (!v.flag("add_position_embedding") &&
      v.text("position_embedding_type") == "learned_absolute") {
    v.derive("position_embedding_type", "none", "from --no-position-embedding");
  }
  if (v.flag("recompute_activations")) {
    v.derive("recompute_granularity", "selective", "from --recompute-activations");
  }
  if (v.has("activations_checkpoint_method")) {
    const char* const why = "from --activations-checkpoint-method";
    v.derive("recompute_granularity", "full", why);
    v.derive("recompute_method", v.text("activations_checkpoint_method"), why);
    v.derive("recompute_num_layers",
             number(v.maybe_integer("activations_checkpoint_num_layers").value_or(1)), why);
  }
  // With full recompute the experts' layers are recomputed anyway.
  if (v.flag("moe_layer_recompute") &&
      v.maybe_text("recompute_granularity").value_or("selective") == "selective") {
    std::vector<std::string> modules = v.words("recompute_modules");
    if (modules.empty()) {
      modules.push_back("core_attn");
    }
    if (std::ranges::count(modules, "moe") == 0) {
      modules.push_back("moe");
    }
    v.derive("recompute_granularity", "selective", "from --moe-layer-recompute");
    v.derive("recompute_modules", modules, "with moe, from --moe-layer-recompute");
  }
  if (v.flag("use_flash_attn") && !v.given("attention_backend")) {
    v.derive("attention_backend", "flash", "from --use-flash-attn");
  }
  if (v.has("dist_ckpt_format_deprecated")) {
    v.derive("ckpt_format", v.text("dist_ckpt_format_deprecated"), "from --dist-ckpt-format");
  }
  const std::pair<const char*, const char*> twins[] = {{"num_layers", "encoder_num_layers"},
                                                       {"seq_length", "encoder_seq_length"}};
  for (const auto& [main, other] : twins) {
    if (!v.has(main) && v.has(other)) {
      v.derive(main, v.text(other), fmt::format("= {}", other));
    }
  }
}

/// Returns 4h, or for a gated MLP 2/3 of it, so that it has as many weights as a plain one, cut to
/// a multiple of 64. Source: the reference's validate_args.
Index default_ffn_width(Index hidden, bool swiglu) {
  if (!swiglu) {
    return 4 * hidden;
  }
  return static_cast<Index>(static_cast<double>(4 * hidden) * 2 / 3 / 64) * 64;
}

/// Derives sizes that follow from others: widths of MLP and heads, groups, biases.
void derive_model(OptionValues& v) {
  const Index hidden = v.maybe_integer("hidden_size").value_or(0);
  const Index heads = v.maybe_integer("num_attention_heads").value_or(0);
  const bool swiglu = v.flag("swiglu");
  if (!v.has("ffn_hidden_size") && hidden > 0) {
    v.derive("ffn_hidden_size", number(default_ffn_width(hidden, swiglu)),
             swiglu ? "= int(4 * hidden_size * 2 / 3 / 64) * 64, for SwiGLU" : "= 4 * hidden_size");
  }
  if (!v.has("kv_channels") && hidden > 0 && heads > 0) {
    v.derive("kv_channels", number(hidden / heads), "= hidden_size / num_attention_heads");
  }
  if (!v.flag("group_query_attention") && heads > 0) {
    v.derive("num_query_groups", number(heads),
             "= num_attention_heads, without --group-query-attention");
  }
  if (v.has("num_experts") && !v.has("moe_ffn_hidden_size") && v.has("ffn_hidden_size")) {
    v.derive("moe_ffn_hidden_size", v.text("ffn_hidden_size"), "= ffn_hidden_size");
  }
  if (v.flag("add_bias_linear") && !v.flag("add_qkv_bias")) {
    v.derive("add_qkv_bias", "true", "linear layers have biases");
  }
  if (!v.flag("add_bias_linear") && v.flag("bias_gelu_fusion")) {
    v.derive("bias_gelu_fusion", "false", "there is no bias to fuse");
  }
  if (!v.has("rope_type")) {
    v.derive("rope_type", v.flag("multi_latent_attention") ? "yarn" : "rope",
             "multi-latent attention uses yarn");
  }
  if (v.flag("apply_query_key_layer_scaling") && !v.flag("attention_softmax_in_fp32")) {
    v.derive("attention_softmax_in_fp32", "true", "from --apply-query-key-layer-scaling");
  }
  if (v.has("recompute_granularity") && v.text("recompute_granularity") == "selective" &&
      !v.has("recompute_modules")) {
    v.derive("recompute_modules", "core_attn", "default of selective recompute");
  }
}

/// Derives the length of a sequence from the patches of an image; nothing is read by a tokenizer.
void derive_vision(OptionValues& v) {
  if (v.text("model") != "vit") {
    return;
  }
  const Index patch = v.integer("patch_dim");
  const bool inpaints = v.text("vision_pretraining_type") == "inpaint";
  if (!v.has("seq_length") && patch > 0) {
    const Index patches = v.integer("img_h") / patch * (v.integer("img_w") / patch);
    v.derive("seq_length", number(patches + (inpaints ? 0 : v.integer("class_token_length"))),
             "class tokens and patches of an image");
  }
  if (!v.has("max_position_embeddings") && v.has("seq_length")) {
    v.derive("max_position_embeddings", v.text("seq_length"), "= seq_length");
  }
  if (!v.has("tokenizer_type")) {
    v.derive("tokenizer_type", "NullTokenizer", "images have no tokens");
    v.derive("vocab_size", "1", "images have no tokens");
  }
  if (!v.has("dataloader_type")) {
    v.derive("dataloader_type", "cyclic", "default of --model vit");
  }
  if (!v.has("drop_path_rate") && v.text("vision_pretraining_type") == "dino") {
    v.derive("drop_path_rate", "0.1", "of the student of DINO");
  }
}

/// Derives the length of texts of a vision-language model: a text with its images fills the
/// sequence; packed texts may be without images.
void derive_text_length(OptionValues& v) {
  const Index patch = v.integer("patch_dim");
  const bool sees_images = family_of(v.text("model")).samples == SampleKind::image_texts;
  if (!sees_images || v.has("dataloader_seq_length") || patch < 1 || !v.has("seq_length")) {
    return;
  }
  if (v.has("packing_buffer_size")) {
    v.derive("dataloader_seq_length", v.text("seq_length"), "= seq_length of packed rows");
    return;
  }
  const Index patches = v.integer("img_h") / patch * (v.integer("img_w") / patch);
  const bool token = v.text("vision_model_type") == "clip" && !v.flag("disable_vision_class_token");
  const Index positions = v.flag("pixel_shuffle") ? patches / 4 : patches + (token ? 1 : 0);
  const Index tiles = v.flag("use_tiling") ? v.integer("max_num_tiles") : 1;
  const Index most = tiles + (v.flag("use_thumbnail") && tiles > 1 ? 1 : 0);
  v.derive("dataloader_seq_length", number(v.integer("seq_length") - most * positions + 1),
           "what an image leaves of seq_length, and one token for it");
}

/// Holds a place for the length of `mpitron finetune`, which is counted in epochs.
void derive_text_task(OptionValues& v) {
  if (v.has("task") && !v.has("train_iters") && !v.has("train_samples")) {
    v.derive("train_iters", "1", "a place for what --epochs make of the data");
  }
}

/// Derives layers, depths and kinds of attention from the letters of a hybrid model.
void derive_hybrid(OptionValues& v) {
  if (!family_of(v.text("model")).by_letters) {
    return;
  }
  if (!v.given("position_embedding_type")) {
    v.derive("position_embedding_type", "none", "default of --model mamba");
  }
  const HybridPattern pattern = given_pattern(v);
  if (!pattern.letters.empty() && !v.has("num_layers")) {
    v.derive("num_layers", number(static_cast<Index>(pattern.letters.size())),
             "letters of the pattern");
  }
  if (!pattern.depths.empty() && !v.has("mtp_num_layers")) {
    v.derive("mtp_num_layers", number(static_cast<Index>(pattern.depths.size())),
             "depths of the pattern");
  }
  for (const char* letter : {"+", "D"}) {
    if (has_letter(v, *letter) && !v.given("multi_latent_attention")) {
      v.derive("multi_latent_attention", "true", fmt::format("a letter {}", letter));
    }
  }
}

/// Adds bf16 gradients up in fp32 unless the user says otherwise, as the reference does.
void derive_precision(OptionValues& v, Reading& report) {
  if (v.flag("bf16") && !v.flag("grad_reduce_in_bf16") && v.text("main_grads_dtype") == "fp32" &&
      !v.flag("accumulate_allreduce_grads_in_fp32")) {
    v.derive("accumulate_allreduce_grads_in_fp32", "true", "from --bf16");
  }
  if (v.flag("fp16") && !v.has("loss_scale") && v.flag("check_for_nan_in_loss_and_grad")) {
    v.derive("check_for_nan_in_loss_and_grad", "false", "dynamic loss scaling expects overflows");
  }
  if (v.flag("sequence_parallel") && v.integer("tensor_model_parallel_size") == 1) {
    v.derive("sequence_parallel", "false", "one tensor rank");
    report.notices.push_back("--sequence-parallel has no effect with one tensor rank");
  }
}

/// Fills sizes of the layout; options that have no meaning on MPI are told once and left.
void derive_layout(OptionValues& v, Index world_size, Reading& report) {
  if (!v.has("world_size")) {
    v.derive("world_size", number(world_size), "ranks of this run");
  }
  if (v.text("distributed_backend") == "gloo") {
    report.notices.push_back("--distributed-backend gloo: MPI takes its place, as mpi says");
  }
  if (!v.has("expert_tensor_parallel_size")) {
    v.derive("expert_tensor_parallel_size", v.text("tensor_model_parallel_size"),
             "= tensor_model_parallel_size");
  }
  if (!v.has("microbatch_group_size_per_vp_stage")) {
    v.derive("microbatch_group_size_per_vp_stage", v.text("pipeline_model_parallel_size"),
             "= pipeline_model_parallel_size");
  }
}

/// Without --global-batch-size a batch is the last size of --step-batch-size-schedule, or one
/// microbatch of each replica.
void derive_batch(OptionValues& v) {
  const std::optional<Index> micro = v.maybe_integer("micro_batch_size");
  const auto steps =
      read_batch_size_steps(v.maybe_text("step_batch_size_schedule").value_or(""), 1);
  if (steps && !v.given("global_batch_size")) {
    v.derive("global_batch_size", number(steps->back().size), "end of step_batch_size_schedule");
  }
  if (!v.has("global_batch_size") && micro) {
    v.derive("global_batch_size", number(*micro * data_parallel_size(v)),
             "= micro_batch_size * data_parallel_size");
  }
}

/// Sets lengths of decay and warm-up to the length of the run, in the unit (iterations or samples)
/// that the run is given in.
void derive_schedule(OptionValues& v) {
  const bool samples = v.has("train_samples") && !v.has("train_iters");
  const char* length = samples ? "train_samples" : "train_iters";
  const char* decay = samples ? "lr_decay_samples" : "lr_decay_iters";
  if (!v.has(decay) && v.has(length)) {
    v.derive(decay, v.text(length), fmt::format("= {}", length));
  }
  if (v.text("weight_decay_incr_style") == "constant" && !v.given("start_weight_decay") &&
      !v.given("end_weight_decay")) {
    v.derive("start_weight_decay", v.text("weight_decay"), "= weight_decay");
    v.derive("end_weight_decay", v.text("weight_decay"), "= weight_decay");
  }
  if (v.has("decoupled_lr") && !v.has("decoupled_min_lr")) {
    v.derive("decoupled_min_lr", v.text("min_lr"), "= min_lr");
  }
}

/// Takes the tokenizers of pretrain_gpt.py, pretrain_mamba.py, pretrain_bert.py and pretrain_t5.py.
void derive_tokenizer(OptionValues& v) {
  if (v.has("tokenizer_type")) {
    return;
  }
  const std::string model = v.text("model");
  v.derive("tokenizer_type",
           family_of(model).padded() ? "BertWordPieceLowerCase" : "GPT2BPETokenizer",
           fmt::format("default of pretrain-{}", model));
}

/// Expands files of paths before rules see the words, and sets split and loader.
void derive_data(OptionValues& v, Reading& report) {
  expand_data_files(v, report);
  derive_tokenizer(v);
  if (!v.has("split") && v.has("data_path")) {
    v.derive("split", "969, 30, 1", "default with --data-path");
  } else if (!v.has("split") && v.flag("mock_data")) {
    v.derive("split", "1,1,1", "default with --mock-data");
  }
  if (!v.has("dataloader_type")) {
    v.derive("dataloader_type", "single", "default");
  }
}

}  // namespace

/// Returns at least 1, so that what is derived from it stays sane where the layout does not divide;
/// a rule tells that.
Index data_parallel_size(const OptionValues& v) {
  const Index replica = v.integer("tensor_model_parallel_size") *
                        v.integer("pipeline_model_parallel_size") *
                        v.integer("context_parallel_size");
  return replica > 0 ? std::max<Index>(1, v.integer("world_size") / replica) : 1;
}

bool scales_loss(const OptionValues& v) {
  return v.flag("fp16") || v.flag("bf16") || v.flag("use_distributed_optimizer");
}

/// Derives in this order because parts read what those before them have derived.
void derive_values(OptionValues& values, Index world_size, Reading& report) {
  derive_replaced_names(values);
  derive_text_task(values);
  derive_hybrid(values);
  derive_vision(values);
  derive_text_length(values);
  derive_model(values);
  derive_precision(values, report);
  derive_layout(values, world_size, report);
  if (values.text("optimizer") == "dist_muon" && !values.given("use_distributed_optimizer")) {
    values.derive("use_distributed_optimizer", "true", "from --optimizer dist_muon");
  }
  derive_batch(values);
  derive_schedule(values);
  derive_data(values, report);
  note_unused_options(values, report);
}

}  // namespace mpitron::config
