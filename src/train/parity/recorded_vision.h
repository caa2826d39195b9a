#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "config/vision_config.h"
#include "train/parity/recorded_batches.h"

namespace mpitron::train {

/// Recorded runs on images tell sizes instead of flags ("dims" of config.json); this says which
/// flags they stand for. Error(data) where a size is missing.
std::vector<std::string> vision_flags(const std::filesystem::path& config_path);

/// The name that the reference's image models give a parameter of ours.
std::string vision_name(std::string parameter);

/// Logits or painted images of a recorded microbatch, as the model computes them.
struct RecordedLogits {
  Index samples = 0, length = 0, columns = 0;
  std::vector<float> values;  // [b, s, v]
  Index rows = 0;             // of the microbatch; 0: as many as samples
};
/// [b, classes] as one position, images [b, 3, H, W] as patches. Of DINO what the student says of
/// all crops, in the order of the model.
RecordedLogits vision_logits(const io::SafetensorsFile& recorded,
                             const config::VisionConfig& vision);

/// Images of a recorded run, with labels or masks; rows are consumed round and round.
class RecordedImages final : public RecordedBatches {
 public:
  RecordedImages(const std::filesystem::path& folder, const config::VisionConfig& vision);
  HostMicrobatch rows(Index first, Index count) override;

 private:
  void read_crops(const io::SafetensorsFile& file);

  config::VisionConfig vision_;
  Index recorded_rows_ = 0;
  std::vector<float> pixels_, masks_;
  std::vector<std::int64_t> labels_;
  // of the rows last asked for
  std::vector<float> row_pixels_, row_masks_, weights_;
  std::vector<std::int64_t> row_labels_;
};

}  // namespace mpitron::train
