#pragma once

#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

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
        .choose("classify inpaint dino")
        .works_with("classify inpaint"),
    text("vision-backbone-type", "vit", later, "family of the image model").choose("vit mit swin"),
    text("swin-backbone-type", "tiny", later, "size of the Swin model").choose("tiny base h3"),
    text("mask-type", "random", works, "shape of the hole to be painted").choose("random row"),
    real("mask-factor", "1.0", works, "size of the hole to be painted"),
    integer("iter-per-epoch", "1250", later, "iterations per epoch for the DINO schedules"),
    integer("dino-local-img-size", "96", later, "edge of a local crop"),
    integer("dino-local-crops-number", "10", later, "local crops per image"),
    integer("dino-head-hidden-size", "2048", later, "inner width of the DINO head"),
    integer("dino-bottleneck-size", "256", later, "bottleneck of the DINO head"),
    real("dino-freeze-last-layer", "1", later, "epochs in which the last layer stays as it is"),
    flag("dino-norm-last-layer", later, "fix the norm of the last layer"),
    real("dino-warmup-teacher-temp", "0.04", later, "teacher temperature at the start"),
    real("dino-teacher-temp", "0.07", later, "teacher temperature after the warm-up"),
    integer("dino-warmup-teacher-temp-epochs", "30", later, "epochs of that warm-up"),
    flag("qk-layernorm", works, "norm on every query and key head, before positions are applied"),
    flag("qk-l2-norm", works, "the same without parameters: divide by the root mean square"),
};

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
