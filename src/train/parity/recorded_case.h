#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "io/arrays/safetensors.h"
#include "train/parity/recorded_batches.h"

namespace mpitron::train {

/// Records of one iteration of the reference.
struct RecordedIteration {
  double loss = 0;
  std::optional<double> grad_norm;  // absent where the reference skipped the update
  std::optional<bool> update_skipped;
  double learning_rate = 0;
  /// Of objectives beside the first, as the log calls them ("sop loss", "accuracy").
  std::map<std::string, double> other_losses = {};
  std::optional<double> max_attention_logit = std::nullopt;  // with --qk-clip
};

/// Returns the name that a record has for a parameter or buffer of ours; `has` tells whether a name
/// is in it. Releases differ in a few.
std::string name_in_record(std::string name, const std::function<bool(const std::string&)>& has);

/// A recorded run of the reference: a folder with config.json (its flags among them),
/// weights.safetensors, batches.safetensors, logits.safetensors and losses.json.
class RecordedCase {
 public:
  /// Reads config.json and losses.json; Error(data) names the file and what is missing.
  explicit RecordedCase(const std::filesystem::path& folder);

  const std::string& name() const { return name_; }
  const std::filesystem::path& folder() const { return folder_; }
  /// Returns the name of the model's family, such as "gpt" or "vlm".
  const std::string& model_type() const { return model_type_; }
  /// Tells whether the recording is of an image encoder alone, which `flags` put into a vlm;
  /// nothing is trained.
  bool encoder_only() const { return encoder_only_; }
  const std::vector<std::string>& flags() const { return flags_; }
  const std::vector<RecordedIteration>& iterations() const { return iterations_; }
  /// L2 norms of the parameters at the end, by name; empty where they were not recorded.
  const std::map<std::string, double>& final_norms() const { return final_norms_; }
  /// Returns the name that a recorded weight or norm has for a parameter of ours.
  std::string recorded_name(const std::string& parameter) const;
  /// Returns what a recorded number of a parameter has less than ours: with --apply-layernorm-1p
  /// the reference keeps weight - 1 in the norm behind a delta net, too.
  float recorded_less(const std::string& parameter) const;
  /// Applies recorded settings that the reference has no flag for (an attention window).
  void apply_settings_without_flags(config::RunConfig& config);

  /// Copies the recorded initial weights into the parameters, or what lies here of them;
  /// Error(data) lists names or shapes that do not fit. `whole_model`: all recorded weights must
  /// have a place.
  void load_weights(device::Device& device, autograd::ParameterList& parameters,
                    bool whole_model = true) const;
  /// Rows [first, first + count) of the recorded batches.
  HostMicrobatch rows(Index first, Index count);
  RecordedLogits first_logits() const;
  /// Samples that are not learned, all in one batch, and what was computed of them at the end;
  /// nothing where none were recorded.
  struct Unlearned {
    HostMicrobatch samples;
    RecordedLogits logits;
  };
  std::optional<Unlearned> last_logits();

 private:
  void read_configuration();
  void read_losses();

  std::filesystem::path folder_;
  std::string name_, model_type_;
  std::vector<std::string> flags_;
  std::vector<RecordedIteration> iterations_;
  std::map<std::string, double> final_norms_;
  std::optional<std::array<Index, 2>> window_;
  bool qk_l2_norm_ = false;
  bool encoder_only_ = false;
  io::SafetensorsFile weights_, logits_;
  config::ModelConfig model_;
  std::unique_ptr<RecordedBatches> batches_, unlearned_;  // once rows were asked for
};

}  // namespace mpitron::train
