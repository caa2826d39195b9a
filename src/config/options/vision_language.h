#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options of the reference's programs for images in text (pretrain_vlm.py, examples/multimodal).
inline constexpr std::array kVisionLanguage = {
    text("vision-model-type", "clip", works, "image encoder of a vision-language model")
        .choose("clip siglip internvit internvit300M radio radio-g cradio-g")
        .works_with("clip siglip"),
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
        .choose("mlp affine"),
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
    text("image-tag-type", none, works, "texts around an image").choose("nvlm internvl"),
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
