#include "data/images/image_dataset.h"
#include "data/images/image_text_encoder.h"
#include "data/images/image_texts.h"
#include "data/loading/image_loader.h"
#include "data/loading/image_text_loader.h"
#include "models/llava/llava_batch.h"
#include "models/vit/vit_batch.h"
#include "train/batches/training_data.h"
#include "utils/error.h"

// Data sets and sources of models that see images, for the table of sample kinds.

namespace mpitron::train {
namespace {

/// Images with one label each.
class ImageSource final : public SampleSource {
 public:
  explicit ImageSource(const SourceRequest& request)
      : loader_(std::dynamic_pointer_cast<const data::ImageDataset>(request.dataset),
                {.sampler = request.sampler, .threads = request.config.data.num_workers}),
        length_(request.config.training.seq_length) {}

  std::optional<models::HostMicrobatch> next() override {
    const data::ImageBatch* batch = loader_.next();
    if (batch == nullptr) {
      return std::nullopt;
    }
    return models::HostMicrobatch{.samples = batch->rows,
                                  .sequence_length = length_,
                                  .columns = {{models::kPixels, batch->pixels},
                                              {models::kLabels, batch->labels},
                                              {models::kLossMask, batch->weights},
                                              {models::kPatchMask, batch->masks}}};
  }

 private:
  data::ImageLoader loader_;
  Index length_;
};

/// Conversations with images.
class ImageTextSource final : public SampleSource {
 public:
  explicit ImageTextSource(const SourceRequest& request)
      : loader_(std::dynamic_pointer_cast<const data::ImageTextDataset>(request.dataset),
                request.sampler, request.config.data.num_workers),
        length_(request.config.training.seq_length) {}

  /// Hands out the loader's next batch as named columns; they point into the loader's memory and
  /// are valid until the next call.
  std::optional<models::HostMicrobatch> next() override {
    const data::ImageTextBatch* batch = loader_.next();
    if (batch == nullptr) {
      return std::nullopt;
    }
    return models::HostMicrobatch{.samples = batch->rows,
                                  .sequence_length = length_,
                                  .columns = {{models::kTokens, batch->tokens},
                                              {models::kLabels, batch->labels},
                                              {models::kLossMask, batch->loss_mask},
                                              {models::kPixels, batch->tiles},
                                              {models::kImagesPerRow, batch->images_per_row},
                                              {models::kTilesPerImage, batch->tiles_per_image},
                                              {models::kSegments, batch->segments}}};
  }

 private:
  data::ImageTextLoader loader_;
  Index length_;
};

/// Fractions of classes and of images concern training only.
std::shared_ptr<const data::Dataset> image_set(const config::RunConfig& config,
                                               const std::string& folder, bool training) {
  const config::VisionConfig& vision = config.model.vision;
  const data::ImageShare share{.classes = training ? vision.class_fraction : 1,
                               .images = training ? vision.image_fraction : 1};
  std::shared_ptr<const data::ImageList> images =
      data::open_images(folder, share, config.data.data_cache_path.value_or(""));
  const auto classes = static_cast<Index>(images->classes().size());
  if (vision.task == config::VisionTask::classify && classes > vision.classes) {
    throw_data("{}: {} classes, and --num-classes {} of the head", folder, classes, vision.classes);
  }
  return std::make_shared<data::ImageDataset>(
      std::move(images), data::ImageDataset::Options{
                             .vision = vision, .training = training, .seed = config.data.seed});
}

}  // namespace

data::GptData image_sets(const config::RunConfig& config,
                         const tokenizers::Tokenizer& /*tokenizer*/) {
  const std::vector<std::string>& folders = config.data.data_path;
  data::GptData sets;
  sets.train = image_set(config, folders.size() > 2 ? folders[2] : folders.at(0), true);
  if (folders.size() > 1) {
    sets.valid.push_back(image_set(config, folders[1], false));
  }
  return sets;
}

std::shared_ptr<const data::Dataset> known_images(const TrainingData& data) {
  const auto images = std::dynamic_pointer_cast<const data::ImageDataset>(data.sets.train);
  MPITRON_CHECK(images != nullptr);
  return images->as_evaluated();
}

/// Texts end with the tokenizer's end of document.
data::GptData image_text_sets(const config::RunConfig& config,
                              const tokenizers::Tokenizer& tokenizer) {
  const data::ImageTextDataset::Options options{
      .vlm = *config.model.vlm,
      .pad = tokenizer.eod(),
      .most_bad_images = config.model.vision.most_bad_images,
      .seq_length = config.model.seq_length,
      .encode = data::make_image_text_encoder(tokenizer, config.model.vlm->image_tags),
      .tile_tags = data::tile_tags(tokenizer, config.model.vlm->tiling)};
  const auto set = [&](const std::string& path) {
    return std::make_shared<data::ImageTextDataset>(
        data::open_conversations(path, config.data.data_cache_path.value_or("")), options);
  };
  const std::vector<std::string>& paths = config.data.data_path;
  data::GptData sets;
  sets.train = set(paths.at(0));
  if (paths.size() > 1) {
    sets.valid.push_back(set(paths[1]));
  }
  return sets;
}

std::unique_ptr<SampleSource> image_source(const SourceRequest& request) {
  return std::make_unique<ImageSource>(request);
}

std::unique_ptr<SampleSource> image_text_source(const SourceRequest& request) {
  return std::make_unique<ImageTextSource>(request);
}

}  // namespace mpitron::train
