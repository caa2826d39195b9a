#pragma once
#include <filesystem>

#include "convert/description/model_description.h"
#include "convert/formats/tensor_source.h"
#include "convert/names/name_table.h"
#include "convert/round_trip.h"

namespace mpitron::convert {

/// Writes the image encoder of a model that sees images as a folder of Hugging Face of its own: a
/// CLIPVisionModel, or a SiglipVisionModel without its head. `ours` may hold more than the encoder.
/// Error(data), before anything is written, where the encoder has no sizes of its own or tensors
/// are missing.
class EncoderWriter {
 public:
  /// `ours` outlives the writer.
  EncoderWriter(const ModelDescription& description, TensorSource& ours);

  /// The folder must be empty.
  void write(const std::filesystem::path& folder, Index bytes_per_file, const Progress& progress);
  /// Reads the folder back and compares each tensor of ours by its hash.
  RoundTrip compare(const std::filesystem::path& folder, const Progress& progress);

 private:
  const ModelDescription& description_;
  TensorSource& ours_;
  NameTable table_;
};

}  // namespace mpitron::convert
