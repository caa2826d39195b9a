#include <utility>

#include "models/vit/vit_batch.h"
#include "train/parity/recorded_batches.h"
#include "utils/error.h"

// Recorded runs on images: recorded batches become microbatches.

namespace mpitron::train {
namespace {

/// Pairs of parts of a name: ours, the reference's.
constexpr std::pair<const char*, const char*> kNames[] = {
    {".input_layernorm.", ".input_norm."},
    {".pre_mlp_layernorm.", ".post_attention_norm."},
    {".self_attention.linear_qkv.", ".self_attention.query_key_value."},
    {".self_attention.linear_proj.", ".self_attention.dense."},
    {".mlp.linear_fc1.", ".mlp.dense_h_to_4h."},
    {".mlp.linear_fc2.", ".mlp.dense_4h_to_h."},
    {".final_layernorm.", ".final_norm."}};

/// Reduces masks [n, 1, H, W] to [n, patches]: they are of whole patches.
std::vector<float> patch_masks(const std::vector<float>& pixels,
                               const config::VisionConfig& vision) {
  const Index plane = vision.image_height * vision.image_width;
  const Index rows = static_cast<Index>(pixels.size()) / plane;
  std::vector<float> masks;
  for (Index i = 0; i < rows * vision.patches(); ++i) {
    const Index patch = i % vision.patches();
    const Index y = patch / vision.grid_width() * vision.patch;
    const Index x = patch % vision.grid_width() * vision.patch;
    masks.push_back(pixels[static_cast<std::size_t>(i / vision.patches() * plane +
                                                    y * vision.image_width + x)]);
  }
  return masks;
}

}  // namespace

std::string vision_name(std::string parameter) {
  for (const auto& [ours, theirs] : kNames) {
    if (const std::size_t at = parameter.find(ours); at != std::string::npos) {
      parameter.replace(at, std::string_view(ours).size(), theirs);
    }
  }
  return parameter;
}

namespace {

/// Orders rows that were recorded crop by crop as the model has them: the large crops, then the
/// small ones, each image by image.
RecordedLogits crop_logits(const io::SafetensorsFile::Tensor& recorded, Index locals) {
  const auto values = recorded.as<float>();
  const Index rows = recorded.shape.at(0), columns = recorded.shape.at(1);
  const Index images = rows / (2 + locals);
  RecordedLogits result{
      .samples = rows, .length = 1, .columns = columns, .values = {}, .rows = images};
  for (Index row = 0; row < rows; ++row) {
    const bool large = row < 2 * images;
    const Index crops = large ? 2 : locals, place = large ? row : row - 2 * images;
    const Index from = (place % crops + (large ? 0 : 2)) * images + place / crops;
    for (Index i = 0; i < columns; ++i) {
      result.values.push_back(values[from * columns + i]);
    }
  }
  return result;
}

/// Cuts painted images into patches.
RecordedLogits painted_logits(const io::SafetensorsFile::Tensor& recorded, Index patch) {
  const auto values = recorded.as<float>();
  RecordedLogits result{.samples = recorded.shape.at(0)};
  const Index channels = recorded.shape.at(1), height = recorded.shape.at(2),
              width = recorded.shape.at(3);
  result.length = height / patch * (width / patch);
  result.columns = patch * patch * channels;
  for (Index i = 0; i < values.size(); ++i) {
    const Index within = i % result.columns, at = i / result.columns;
    const Index place = at % result.length, sample = at / result.length;
    const Index channel = within % channels, pixel = within / channels;
    const Index y = place / (width / patch) * patch + pixel / patch;
    const Index x = place % (width / patch) * patch + pixel % patch;
    result.values.push_back(values[((sample * channels + channel) * height + y) * width + x]);
  }
  return result;
}

}  // namespace

RecordedLogits vision_logits(const io::SafetensorsFile& recorded,
                             const config::VisionConfig& vision) {
  if (vision.dino) {
    return crop_logits(recorded.at("student"), vision.dino->local_crops);
  }
  const io::SafetensorsFile::Tensor& outputs = recorded.at("first_microbatch");
  if (outputs.shape.size() != 2) {
    return painted_logits(outputs, vision.patch);
  }
  RecordedLogits result{.samples = outputs.shape[0], .length = 1, .columns = outputs.shape[1]};
  const auto values = outputs.as<float>();
  for (Index i = 0; i < values.size(); ++i) {
    result.values.push_back(values[i]);
  }
  return result;
}

RecordedImages::RecordedImages(const std::filesystem::path& folder,
                               const config::VisionConfig& vision)
    : vision_(vision) {
  const io::SafetensorsFile file(folder / "batches.safetensors");
  if (vision.dino) {
    read_crops(file);
    return;
  }
  pixels_ = recorded_column<float, float>(file, "images");
  recorded_rows_ = file.at("images").shape.at(0);
  if (vision.task == config::VisionTask::inpaint) {
    masks_ = patch_masks(recorded_column<float, float>(file, "masks"), vision);
    labels_.resize(static_cast<std::size_t>(recorded_rows_));
  } else {
    labels_ = recorded_column<std::int32_t, std::int64_t>(file, "labels");
  }
}

void RecordedImages::read_crops(const io::SafetensorsFile& file) {
  recorded_rows_ = file.at("globals").shape.at(0);
  labels_.resize(static_cast<std::size_t>(recorded_rows_));
  const std::vector<float> columns[] = {recorded_column<float, float>(file, "globals"),
                                        recorded_column<float, float>(file, "locals")};
  for (Index row = 0; row < recorded_rows_; ++row) {
    for (const std::vector<float>& column : columns) {
      const Index width = static_cast<Index>(column.size()) / recorded_rows_;
      const auto begin = column.begin() + row * width;
      pixels_.insert(pixels_.end(), begin, begin + width);
    }
  }
}

HostMicrobatch RecordedImages::rows(Index first, Index count) {
  const auto copy = [&](const auto& from, auto& to) {
    const auto width = from.size() / static_cast<std::size_t>(recorded_rows_);
    to.clear();
    for (Index row = first; row < first + count; ++row) {
      const auto begin = from.begin() + (row % recorded_rows_) * static_cast<Index>(width);
      to.insert(to.end(), begin, begin + static_cast<Index>(width));
    }
  };
  copy(pixels_, row_pixels_);
  copy(masks_, row_masks_);
  copy(labels_, row_labels_);
  weights_.assign(static_cast<std::size_t>(count), 1.f);
  return {.samples = count,
          .sequence_length = vision_.positions(),
          .first_sample = first,
          .columns = {{models::kPixels, row_pixels_},
                      {models::kLabels, row_labels_},
                      {models::kLossMask, weights_},
                      {models::kPatchMask, row_masks_}}};
}

}  // namespace mpitron::train
