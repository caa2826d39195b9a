#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "train/parity/recorded_batches.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Recorded runs on images: sizes and options become flags.

namespace mpitron::train {
namespace {

using nlohmann::json;

/// Options that a size of "dims" gives.
constexpr std::pair<const char*, const char*> kSizes[] = {{"layers", "--num-layers"},
                                                          {"hidden", "--hidden-size"},
                                                          {"heads", "--num-attention-heads"},
                                                          {"img", "--img-h"},
                                                          {"img", "--img-w"},
                                                          {"patch", "--patch-dim"},
                                                          {"gbs", "--global-batch-size"},
                                                          {"mbs", "--micro-batch-size"},
                                                          {"iters", "--train-iters"},
                                                          {"iters", "--lr-decay-iters"},
                                                          {"lr", "--lr"},
                                                          {"min_lr", "--min-lr"},
                                                          {"warmup", "--lr-warmup-iters"},
                                                          {"wd", "--weight-decay"},
                                                          {"clip", "--clip-grad"}};

/// What all recordings of images share (README of the recordings).
constexpr const char* kShared[] = {"--attention-dropout",
                                   "0",
                                   "--hidden-dropout",
                                   "0",
                                   "--no-bias-gelu-fusion",
                                   "--adam-beta2",
                                   "0.999",
                                   "--adam-eps",
                                   "1e-8",
                                   "--lr-decay-style",
                                   "cosine",
                                   "--data-path",
                                   "recorded"};

std::string word(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Adds the options of crops of images.
void add_dino_flags(const json& dims, std::vector<std::string>& flags) {
  constexpr std::pair<const char*, const char*> kOfDino[] = {
      {"local", "--dino-local-img-size"},
      {"locals", "--dino-local-crops-number"},
      {"out_dim", "--dino-out-dim"},
      {"head", "--dino-head-hidden-size"},
      {"bottleneck", "--dino-bottleneck-size"},
      {"iter_per_epoch", "--iter-per-epoch"},
      {"warm_epochs", "--dino-warmup-teacher-temp-epochs"},
      {"wtemp", "--dino-warmup-teacher-temp"},
      {"temp", "--dino-teacher-temp"}};
  for (const auto& [size, option] : kOfDino) {
    flags.insert(flags.end(), {option, word(dims.at(size))});
  }
  const std::string frozen = dims.contains("freeze_last") ? word(dims["freeze_last"]) : "0";
  flags.insert(flags.end(), {"--dino-freeze-last-layer", frozen, "--drop-path-rate", "0"});
  if (dims.value("norm_last", false)) {
    flags.emplace_back("--dino-norm-last-layer");
  }
}

/// Adds the options of texts with images.
void add_conversation_flags(const json& dims, std::vector<std::string>& flags) {
  flags.insert(flags.end(), std::begin(kShared), std::end(kShared));
  const std::string length = word(dims.at("maxlen"));
  for (const std::string& flag :
       std::initializer_list<std::string>{"--model",
                                          "vlm",
                                          "--encoder-num-layers",
                                          word(dims.at("layers")),
                                          "--vision-model-type",
                                          dims.value("sub", "clip"),
                                          "--vision-projection-type",
                                          dims.value("projector", "mlp"),
                                          "--position-embedding-type",
                                          dims.value("pos", "rope"),
                                          "--seq-length",
                                          length,
                                          "--max-position-embeddings",
                                          length,
                                          "--dataloader-seq-length",
                                          word(dims.at("text")),
                                          "--untie-embeddings-and-output-weights",
                                          "--tokenizer-type",
                                          "NullTokenizer",
                                          "--vocab-size",
                                          "1",
                                          "--padded-vocab-size",
                                          word(dims.at("vocab"))}) {
    flags.push_back(flag);
  }
  const json frozen = dims.value("freeze", json::array());
  const auto add_if = [&](bool given, const char* flag) {
    if (given) {
      flags.emplace_back(flag);
    }
  };
  add_if(dims.value("drop", false), "--disable-vision-class-token");
  add_if(dims.value("shuffle", false), "--pixel-shuffle");
  add_if(std::ranges::count(frozen, "language_model") > 0, "--freeze-LM");
  add_if(std::ranges::count(frozen, "vision_model") > 0, "--freeze-ViT");
}

/// Adds the smallest language model that an encoder without one fits; nothing is trained.
void add_language_model(json& dims) {
  const Index grid =
      dims.value("img", Index{0}) / std::max<Index>(1, dims.value("patch", Index{1}));
  dims["text"] = 2;
  dims["maxlen"] = (grid * grid + 2 + 63) / 64 * 64;  // a multiple of all ranks
  dims["vocab"] = 8;
  dims["iters"] = 1;
  dims["warmup"] = 0;
}

}  // namespace

std::vector<std::string> vision_flags(const std::filesystem::path& config_path) {
  const json config = json::parse(read_file(config_path), nullptr, false);
  json dims = config.is_object() ? config.value("dims", json()) : json();
  if (!dims.is_object()) {
    throw_data("{}: neither 'flags' nor 'dims'", config_path.string());
  }
  std::vector<std::string> flags;
  const std::string kind = dims.value("kind", "");
  if (kind == "tower") {
    add_language_model(dims);
  }
  for (const auto& [size, option] : kSizes) {
    if (!dims.contains(size)) {
      throw_data("{}: 'dims' lacks '{}'", config_path.string(), size);
    }
    flags.insert(flags.end(), {option, word(dims[size])});
  }
  if (kind == "llava" || kind == "tower") {
    add_conversation_flags(dims, flags);
    return flags;
  }
  if (kind != "classify" && kind != "inpaint" && kind != "dino") {
    throw_data(
        "{}: recorded runs of kind '{}' are not replayed; those of classify, inpaint, dino, llava "
        "and tower are",
        config_path.string(), kind);
  }
  flags.insert(flags.end(), {"--model", "vit", "--vision-pretraining-type", kind});
  if (kind == "dino") {
    add_dino_flags(dims, flags);
  }
  if (dims.contains("classes")) {
    flags.insert(flags.end(), {"--num-classes", word(dims["classes"])});
  }
  flags.insert(flags.end(), std::begin(kShared), std::end(kShared));
  return flags;
}

}  // namespace mpitron::train
