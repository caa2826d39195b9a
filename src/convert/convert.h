#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "convert/model_reader.h"
#include "convert/round_trip.h"

namespace mpitron::convert {

/// A conversion as it was asked for.
struct ConvertSettings {
  std::filesystem::path from, to;
  std::optional<Format> from_format;  // none: found out
  Format to_format = Format::mpitron;
  std::string model_type;  // empty: what the source says, else the family that fits
  Index make_vocab_size_divisible_by = 128;
  Index true_vocab_size = 0;  // rows that stand for tokens; 0: what the source says
  std::optional<DType> dtype;
  bool strict = true;
  bool verify = false;
  bool verify_logits = false;
  Index bytes_per_file = Index{5} << 30;     // of safetensors
  std::string build = {};                    // fingerprint of the program, for the record
  std::filesystem::path merge_adapter = {};  // a folder of PEFT; Hugging Face output only
  /// Layout that the model shall fit: checked, not stored.
  Index target_tensor_ranks = 1, target_pipeline_ranks = 1;
};

/// The result of a conversion, with its proof where it was asked for.
struct ConvertReport {
  Format from_format = Format::mpitron;
  std::string model_type;        // empty: no family has such a model
  std::filesystem::path output;  // file or folder
  Index tensors = 0, bytes = 0;  // of the source, under our names
  std::vector<std::string> ignored, unmapped, notes;
  std::optional<RoundTrip> round_trip;
  /// Largest difference between the logits of source and output; none: not computed.
  std::optional<double> logits_difference;

  bool proven() const {
    return (!round_trip || round_trip->different().empty()) && logits_difference.value_or(0) == 0;
  }
};

/// Called with the part that is going on ("convert", "verify") and how far it is, in bytes.
using ConvertProgress =
    std::function<void(const char* part, Index done, Index total, const std::string& name)>;

/// Converts a model, tensor by tensor: at most two tensors are in memory. With `verify` a record
/// of the proof, conversion_record.json, is left in `to`. Error(data) before anything is written
/// where names, shapes or settings do not fit.
ConvertReport convert(const ConvertSettings& settings, const ConvertProgress& progress);

/// Returns what was converted and what proves it, as JSON; `--json` prints it, too.
std::string record_json(const ConvertSettings& settings, const ConvertReport& report);

}  // namespace mpitron::convert
