#pragma once
#include <filesystem>

#include "io/arrays/safetensors.h"
#include "train/batches/microbatch.h"

namespace mpitron::train {

/// Texts with images of a recorded run, consumed in order.
class RecordedConversations {
 public:
  RecordedConversations(const std::filesystem::path& folder, const config::VlmConfig& vlm,
                        Index seq_length);

  /// Rows [first, first + count); valid until the next call.
  HostMicrobatch rows(Index first, Index count);

 private:
  config::VlmConfig vlm_;
  Index seq_length_;
  std::vector<std::int64_t> tokens_, labels_;  // [n, t]
  std::vector<float> loss_mask_;               // [n, t]
  std::vector<std::int64_t> images_per_row_;   // [n]
  std::vector<std::int64_t> tiles_per_image_;
  std::vector<std::int64_t> image_of_tile_;
  std::vector<float> images_;      // [images, 3, H, W]
  std::vector<float> row_pixels_;  // of the rows last asked for
};

}  // namespace mpitron::train
