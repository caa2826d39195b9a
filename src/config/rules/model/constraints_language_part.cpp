#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules of the language model behind the images of a vision language model.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// A row of packed samples is the whole microbatch, and as long as a sequence.
Result packed_rows(const Facts& f) {
  const std::optional<VlmConfig>& v = f.run.model.vlm;
  if (!v || !f.values.given("packing_buffer_size")) {
    return {};
  }
  const Index length = f.values.maybe_integer("packing_seq_length").value_or(0);
  if (v->packing_window < 1 || (length > 0 && length != f.run.model.seq_length)) {
    return Violation{fmt::format("packing_buffer_size {}, packing_seq_length {}, seq_length {}",
                                 v->packing_window, length, f.run.model.seq_length),
                     fmt::format("--packing-seq-length {}", f.run.model.seq_length)};
  }
  return f.run.training.micro_batch_size == 1
             ? Result()
             : Violation{fmt::format("micro_batch_size {}", f.run.training.micro_batch_size),
                         "--micro-batch-size 1"};
}

Result plain_language_model(const Facts& f) {
  static constexpr std::array kOptions = {"mtp_num_layers",
                                          "multi_latent_attention",
                                          "fp8",
                                          "use_cpu_initialization",
                                          "reset_attention_mask",
                                          "reset_position_ids",
                                          "use_mup",
                                          "sample_prompt",
                                          "mock_data",
                                          "enable_cuda_graph"};
  if (!f.run.model.vlm) {
    return {};
  }
  const std::string given = given_of(f, kOptions);
  return given.empty() ? Result() : Violation{"given: " + given, "--model gpt"};
}

/// A tile is pooled to a square of positions, each of as many patches.
Result pooled_patches(const Facts& f) {
  const std::optional<VlmConfig>& v = f.run.model.vlm;
  const bool pools = v && v->projector == ProjectorKind::pooled;
  if (!pools) {
    return v && f.values.given("mm_tokens_per_image")
               ? Violation{fmt::format("--mm-tokens-per-image {} with --vision-projection-type {}",
                                       v->pooled_positions,
                                       f.values.text("vision_projection_type")),
                           "--vision-projection-type pooled"}
               : Result();
  }
  const char* const other = v->pixel_shuffle     ? "--pixel-shuffle"
                            : v->projector_sizes ? "--vision-projection-ffn-hidden-size"
                                                 : nullptr;
  if (other != nullptr) {
    return Violation{fmt::format("--vision-projection-type pooled with {}", other),
                     fmt::format("leave {} out", other)};
  }
  return v->pooled_edge() > 0 ? Result()
                              : Violation{fmt::format("{} x {} patches, mm_tokens_per_image {}",
                                                      v->grid(), v->grid(), v->pooled_positions),
                                          fmt::format("--mm-tokens-per-image {}", v->patches())};
}

/// Positions that see later ones need all keys of a sequence on one rank, and a kernel that knows
/// where images end.
Result whole_images(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.vlm || !m.vlm->sees_whole_images) {
    return {};
  }
  const char* const obstacle = f.run.training.device == "cuda"            ? "a GPU"
                               : f.run.parallel.context_parallel_size > 1 ? "context parallelism"
                               : m.attention_chunk_size                   ? "--attention-chunk-size"
                               : m.qk_clip                                ? "--qk-clip"
                               : m.log_max_attention_logit      ? "--log-max-attention-logit"
                               : !m.hybrid.delta_layers.empty() ? "--experimental-attention-variant"
                                                                : nullptr;
  return obstacle == nullptr
             ? Result()
             : Violation{fmt::format("--bidirectional-image-attention with {}", obstacle),
                         "--device host --context-parallel-size 1"};
}

/// Rows turn half of a head's frequencies and columns the others.
Result rotating_encoder(const Facts& f) {
  const std::optional<VlmConfig>& v = f.run.model.vlm;
  const Index d = v && v->tower_sizes ? v->tower_sizes->head_size : f.run.model.kv_channels;
  if (!v || !v->parts().rotates || (d > 0 && d % 4 == 0)) {
    return {};
  }
  return Violation{fmt::format("heads of {} in the encoder", d),
                   nearest_multiples("vision-kv-channels", d, 4)};
}

/// The MLP of a projector is cut among tensor ranks; one without biases has no width but its own.
Result projector_width(const Facts& f) {
  const std::optional<VlmConfig>& v = f.run.model.vlm;
  if (!v) {
    return {};
  }
  if (!v->projector_sizes) {
    return v->projector != ProjectorKind::adapter
               ? Result()
               : Violation{"--vision-projection-type adapter without its width",
                           "--vision-projection-ffn-hidden-size 4096"};
  }
  const Index width = v->projector_sizes->ffn_hidden_size;
  const Index t = f.run.parallel.tensor_model_parallel_size;
  return width > 0 && width % t == 0
             ? Result()
             : Violation{
                   fmt::format("vision_projection_ffn_hidden_size {}, {} tensor ranks", width, t),
                   nearest_multiples("vision-projection-ffn-hidden-size", width, t)};
}

/// Llama 4 has marks between tiles, which it cuts by a rule of its own.
Result tags_of_one_tile(const Facts& f) {
  const std::optional<VlmConfig>& v = f.run.model.vlm;
  const bool tiles = v && (f.values.flag("use_tiling") || v->tiling.tags);
  return tiles && v->image_tags == ImageTags::llama4
             ? Result(Violation{fmt::format("--image-tag-type llama4 with {}",
                                            v->tiling.tags ? "--use-tile-tags" : "--use-tiling"),
                                "leave tiles out: an image is resized to one"})
             : Result();
}

constexpr std::array kLanguagePartRules = std::to_array<Constraint>({
    {"E269", "plain_language_model", "--model vlm: a plain decoder",
     "model mtp-num-layers multi-latent-attention fp8-format "
     "use-cpu-initialization reset-attention-mask reset-position-ids use-mup "
     "sample-prompt mock-data enable-cuda-graph",
     "Images are put between tokens of one position each, and samples come from files.",
     plain_language_model},
    {"E274", "packed_rows",
     "packing_buffer_size >= 1 with micro_batch_size == 1 and packing_seq_length == seq_length",
     "packing-buffer-size packing-seq-length seq-length micro-batch-size",
     "A packed row is a microbatch, as in the reference.", packed_rows},
    {"E357", "pooled_patches",
     "--vision-projection-type pooled: mm_tokens_per_image is a square that divides the square of "
     "a tile's patches; no --pixel-shuffle, no inner width",
     "vision-projection-type mm-tokens-per-image img-h patch-dim pixel-shuffle "
     "vision-projection-ffn-hidden-size",
     "Each position is the mean of a square of patches, all squares alike.", pooled_patches},
    {"E358", "whole_images",
     "--bidirectional-image-attention: on the host, without context parallelism, with softmax "
     "attention over all keys or a window of them",
     "bidirectional-image-attention device context-parallel-size attention-chunk-size qk-clip "
     "log-max-attention-logit experimental-attention-variant",
     "Positions of an image see later ones, which kernels of GPUs, rings of ranks and states that "
     "go from left to right do not know.",
     whole_images},
    {"E378", "rotating_encoder",
     "--vision-model-type qwen2_vl or llama4: heads of the encoder are a multiple of 4 wide",
     "vision-model-type vision-kv-channels vision-hidden-size vision-num-attention-heads",
     "Pairs of a head turn by its row and, as many, by its column.", rotating_encoder},
    {"E386", "projector_width",
     "--vision-projection-ffn-hidden-size is a multiple of the tensor ranks, and given with "
     "--vision-projection-type adapter",
     "vision-projection-type vision-projection-ffn-hidden-size tensor-model-parallel-size",
     "The projector's MLP is cut among the language model's tensor ranks.", projector_width},
    {"E387", "tags_of_one_tile", "--image-tag-type llama4: one tile an image",
     "image-tag-type use-tiling use-tile-tags",
     "Llama 4 cuts large images by a rule of its own and marks where rows of tiles end, which is "
     "not done here.",
     tags_of_one_tile},
});

}  // namespace

std::span<const Constraint> language_part_constraints() {
  return kLanguagePartRules;
}

}  // namespace mpitron::config
