#pragma once
#include <filesystem>

#include "io/arrays/safetensors.h"
#include "train/batches/microbatch.h"

namespace mpitron::train {

/// A recorded tensor's elements of type T, as U.
template <class T, class U>
std::vector<U> recorded_column(const io::SafetensorsFile& file, const char* name) {
  const auto values = file.at(name).as<T>();
  std::vector<U> result;
  for (Index i = 0; i < values.size(); ++i) {
    result.push_back(static_cast<U>(values[i]));
  }
  return result;
}

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
