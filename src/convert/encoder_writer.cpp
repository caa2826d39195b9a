#include "convert/encoder_writer.h"

#include "convert/description/config_reading.h"
#include "convert/encoder_reader.h"
#include "convert/formats/hugging_face_folder.h"
#include "convert/translation.h"
#include "utils/error.h"
#include "utils/system/files.h"

// The way back of encoder_reader.h: what was trained as the eyes of a language model becomes an
// encoder that other programs load.

namespace mpitron::convert {
namespace {

constexpr const char* kConfig = "config.json";
/// The older spelling, which newer releases of the library read, too.
constexpr const char* kEncoderPrefix = "vision_model.";

/// Returns what the model's own config.json said of its encoder; an empty object where it came
/// without one.
JsonObject original_of(const ModelDescription& description) {
  const auto file = description.files.find(kConfig);
  return file == description.files.end()
             ? JsonObject()
             : JsonObject(file->second, kConfig).object("vision_config");
}

NameTable table_of(const ModelDescription& description) {
  const auto& vlm = description.model.vlm;
  if (vlm && encoder_type_of(description.model).empty()) {
    throw_data(
        "--model-type {}: the image encoders of Qwen2-VL and Llama 4 are no models of their own",
        description.model_type);
  }
  if (!vlm || !vlm->tower_sizes) {
    throw_data(
        "an image encoder alone can be written of a model that sees images by an encoder with "
        "sizes of its own (pretrain-vlm --vision-hidden-size ..); this one is {}",
        vlm ? "as wide as its language model" : description.model.family().title);
  }
  return make_encoder_table(description, kEncoderPrefix);
}

}  // namespace

EncoderWriter::EncoderWriter(const ModelDescription& description, TensorSource& ours)
    : description_(description), ours_(ours), table_(table_of(description)) {
  const std::string type = encoder_type_of(description.model);
  if (description.model_type != type) {
    throw_data("--model-type {}: the image encoder of this model is a {}", description.model_type,
               type);
  }
  if (const std::string problems = check_ours(ours, table_).problems(false); !problems.empty()) {
    throw_data("the image encoder and its configuration do not fit:{}", problems);
  }
}

void EncoderWriter::write(const std::filesystem::path& folder, Index bytes_per_file,
                          const Progress& progress) {
  write_hugging_face_weights(folder, *to_theirs(ours_, table_), bytes_per_file, progress);
  JsonObject json = original_of(description_);
  write_image_encoder(description_, json);
  AtomicFile file(folder / kConfig);
  file.write(json.dump());
  file.commit();
}

RoundTrip EncoderWriter::compare(const std::filesystem::path& folder, const Progress& progress) {
  EncoderReader back(folder);
  const auto hash = [](TensorSource& source, const std::string& name) {
    const HostTensor tensor = source.read(name);
    return hash_of(tensor, tensor.shape()[0]);
  };
  RoundTrip result;
  for (const TensorInfo& info : back.ours().tensors()) {
    result.tensors.push_back({info.name, hash(ours_, info.name), hash(back.ours(), info.name)});
    result.bytes += info.bytes();
    progress(result.bytes, back.ours().bytes(), info.name);
  }
  return result;
}

}  // namespace mpitron::convert
