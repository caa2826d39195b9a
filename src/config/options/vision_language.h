#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options of the reference's programs for images in text (pretrain_vlm.py, examples/multimodal).
inline constexpr std::array kVisionLanguage = {
    text("vision-model-type", "clip", works, "image encoder of a vision-language model")
        .choose("clip siglip internvit internvit300M radio radio-g cradio-g")
        .works_with("clip siglip"),
    text("vision-projection-type", "mlp", works, "what brings images to the language model's width")
        .choose("mlp affine"),
    flag("disable-vision-class-token", works, "leave the class token out behind the encoder"),
    flag("pixel-shuffle", works, "four neighbouring positions of an image become one"),
    flag("freeze-LM", works, "keep the language model as it is"),
    flag("freeze-ViT", works, "keep the image encoder as it is"),
    integer("dataloader-seq-length", none, works,
            "tokens of a text, of which an image is one; seq-length counts its positions, too"),
};

}  // namespace mpitron::config::rows
