#include "convert/encoder_reader.h"

#include <algorithm>

#include "convert/description/config_reading.h"
#include "convert/description/model_options.h"
#include "convert/formats/hugging_face_folder.h"
#include "convert/names/hugging_face_config.h"
#include "convert/translation.h"
#include "utils/error.h"
#include "utils/system/files.h"

// What a model that sees images may begin with: an encoder without a language model behind it.

namespace mpitron::convert {
namespace {

namespace fs = std::filesystem;

fs::path config_of(const fs::path& folder) {
  return folder / "config.json";
}

/// Returns what names begin with: "vision_model.", and in files of newer releases nothing where the
/// encoder is alone.
std::string prefix_of(const TensorSource& files) {
  constexpr const char* kFirst = "embeddings.patch_embedding.weight";
  return files.find(kFirst) == nullptr ? "vision_model." : "";
}

}  // namespace

bool is_image_encoder(const fs::path& folder) {
  const std::string source = config_of(folder).string();
  return is_encoder_config(JsonObject(read_file(source), source));
}

EncoderReader::EncoderReader(const fs::path& folder)
    : description_(read_encoder_config(read_file(config_of(folder)), config_of(folder).string())),
      files_(std::make_unique<HuggingFaceFolder>(folder)),
      table_(make_encoder_table(description_, prefix_of(*files_))) {
  const std::string problems = check_theirs(*files_, table_).problems(false);
  if (!problems.empty()) {
    throw_data("{}: tensors and configuration do not fit:{}", folder.string(), problems);
  }
  ours_ = to_ours(*files_, table_);
  description_.model.params_dtype = ours_->tensors().front().dtype;
}

std::vector<std::pair<std::string, std::string>> EncoderReader::options() const {
  JsonObject json;
  write_vision(*description_.model.vlm, json);
  std::vector<std::pair<std::string, std::string>> options;
  for (const char* name : {"vision_model_type", "encoder_num_layers", "img_h", "img_w", "patch_dim",
                           "vision_hidden_size", "vision_num_attention_heads", "vision_kv_channels",
                           "vision_ffn_hidden_size", "vision_activation", "vision_norm_epsilon"}) {
    std::string option = std::string("--") + name;
    std::ranges::replace(option, '_', '-');
    options.emplace_back(option, json.text(name));
  }
  return options;
}

}  // namespace mpitron::convert
