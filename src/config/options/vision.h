#pragma once

#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on models of images, the group `vision` of Megatron's arguments.py.
inline constexpr std::array kVision = {
    integer("num-classes", "1000", works, "classes of the image classifier"),
    integer("img-h", "224", works, "image height in pixels"),
    integer("img-w", "224", works, "image width in pixels"),
    integer("num-channels", "3", works, "image channels"),
    integer("patch-dim", "16", works, "edge of an image patch in pixels"),
    real("classes-fraction", "1.0", works, "share of the classes that is used"),
    real("data-per-class-fraction", "1.0", works, "share of the images of each class that is used"),
    flag_off("no-data-sharding", "data_sharding", works,
             "cyclic order over all samples instead of one part per replica"),
    real("head-lr-mult", "1.0", works, "factor on the learning rate of the head"),
    flag("vision-pretraining", neutral, "pretrain an image model: --model vit says so"),
    text("vision-pretraining-type", "classify", works, "task of image pretraining")
        .choose("classify inpaint dino"),
    text("vision-backbone-type", "vit", later, "family of the image model").choose("vit mit swin"),
    text("swin-backbone-type", "tiny", later, "size of the Swin model").choose("tiny base h3"),
    text("mask-type", "random", works, "shape of the hole to be painted").choose("random row"),
    real("mask-factor", "1.0", works, "size of the hole to be painted"),
    integer("iter-per-epoch", "1250", works, "iterations per epoch for the DINO schedules"),
    integer("dino-local-img-size", "96", works, "edge of a local crop"),
    integer("dino-local-crops-number", "10", works, "local crops per image"),
    integer("dino-head-hidden-size", "2048", works, "inner width of the DINO head"),
    integer("dino-bottleneck-size", "256", works, "bottleneck of the DINO head"),
    real("dino-freeze-last-layer", "1", works, "epochs in which the last layer stays as it is"),
    flag("dino-norm-last-layer", works, "fix the norm of the last layer"),
    real("dino-warmup-teacher-temp", "0.04", works, "teacher temperature at the start"),
    real("dino-teacher-temp", "0.07", works, "teacher temperature after the warm-up"),
    integer("dino-warmup-teacher-temp-epochs", "30", works, "epochs of that warm-up"),
    flag("qk-layernorm", works, "norm on every query and key head, before positions are applied"),
    flag("qk-l2-norm", works, "the same without parameters: divide by the root mean square"),
};

// Options of the reference's programs for images in text (pretrain_vlm.py, examples/multimodal).
inline constexpr std::array kVisionLanguage = {
    text("vision-model-type", "clip", works, "image encoder of a vision-language model")
        .choose("clip siglip qwen2_vl llama4 internvit internvit300M radio radio-g cradio-g")
        .works_with("clip siglip qwen2_vl llama4"),
    text("language-model-type", none, works,
         "language model of examples/multimodal: the encoder then has the sizes of its type"),
    integer("vision-hidden-size", none, works, "width of the image encoder"),
    integer("vision-num-attention-heads", none, works, "heads of the image encoder"),
    integer("vision-kv-channels", none, works, "size of a head of the image encoder"),
    integer("vision-ffn-hidden-size", none, works, "inner width of the image encoder's MLPs"),
    text("vision-activation", none, works, "activation of the image encoder's MLPs")
        .choose("quick_gelu gelu_tanh gelu"),
    real("vision-norm-epsilon", none, works, "epsilon of the image encoder's norms"),
    text("vision-projection-type", "mlp", works, "what brings images to the language model's width")
        .choose("mlp affine pooled adapter"),
    integer("mm-tokens-per-image", none, works,
            "positions of an image behind a projector that pools its patches (256)"),
    flag("bidirectional-image-attention", works,
         "positions of an image see each other in the language model"),
    integer("vision-projection-ffn-hidden-size", none, works,
            "inner width of the projector, whose activation is then GELU"),
    flag("disable-vision-class-token", works, "leave the class token out behind the encoder"),
    flag("pixel-shuffle", works, "four neighbouring positions of an image become one"),
    flag("freeze-LM", works, "keep the language model as it is"),
    flag("freeze-ViT", works, "keep the image encoder as it is"),
    flag("recompute-vision", works, "recompute the layers of the image encoder"),
    flag("allow-missing-vision-projection-checkpoint", later,
         "load a checkpoint without a projector, which starts anew"),
    integer("dataloader-seq-length", none, works,
            "tokens of a text, of which an image is one; seq-length counts its positions, too"),
    flag("use-tiling", works, "cut large images into tiles"),
    integer("max-num-tiles", "1", works, "tiles of an image, at most"),
    flag("use-thumbnail", works, "behind several tiles, the whole image"),
    flag("use-area-weighted-aspect-ratio", works,
         "choose the grid of tiles by its area, too, not by its shape alone"),
    flag("use-tile-tags", works, "a text in front of every tile says which it is"),
    text("image-tag-type", none, works, "texts around an image")
        .choose("nvlm internvl gemma3 qwen2_vl llama4"),
    integer("num-frames", "1", later, "frames of a video"),
    integer("packing-buffer-size", none, works, "samples among which those that share a row are"),
    integer("packing-seq-length", none, works, "positions of a packed row: --seq-length"),
    flag("use-loss-scaling", works, "a turn's loss counts the square root of its length"),
    text("special-tokens", "<image>", neutral, "tokens without a text").list(),
    flag("force-system-message", later, "put a fixed system message in front"),
    text("tokenizer-prompt-format", none, later, "chat format of conversations about images"),
    text("dataset-config", none, later, "description of a blend of image-text data"),
    text("prompt-path", none, later, "file of prompts for captions"),
    text("dataloader-save", none, unneeded, "where the data loader saves its state"),
    text("online-evaluation-config", none, unneeded, "tasks evaluated while training"),
    flag("decoder-tp-comm-overlap", neutral, "overlap communication of the language model"),
    flag("use-packed-sequence", neutral, "packed sequences by their lengths"),
    flag("use-te", unneeded, "Transformer Engine"),
    integer("eos-id", none, neutral, "end of a text"),
    flag("use-mcore-inference", neutral, "Megatron-Core's inference engine"),
};

}  // namespace mpitron::config::rows
