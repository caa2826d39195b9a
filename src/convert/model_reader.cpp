#include "convert/model_reader.h"

#include <algorithm>

#include "convert/formats/folded_frames.h"
#include "convert/formats/hugging_face_folder.h"
#include "convert/formats/megatron_dist.h"
#include "convert/formats/megatron_torch.h"
#include "convert/formats/mpitron_checkpoint.h"
#include "convert/formats/stacked_experts.h"
#include "convert/names/hugging_face_config.h"
#include "convert/translation.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Opens a model in any format as ours: the description, the tensors under our names, and what is
// left over. Views are stacked: files, unstacked experts, a cast, a translation of names.

namespace mpitron::convert {
namespace {

/// Returns our name of the words' matrix, whose rows are the vocabulary with its padding, or of
/// that of patches. Its type is that of all parameters.
std::string input_matrix_of(const config::ModelConfig& model) {
  if (!model.family().has_words()) {
    return "backbone.linear_encoder.weight";
  }
  const bool among_others = model.kind == config::ModelKind::vlm;
  return std::string(among_others ? "language_model." : "") + "embedding.word_embeddings.weight";
}

void refuse(const std::filesystem::path& path, const std::string& problems) {
  if (!problems.empty()) {
    throw_data("{}: tensors and configuration do not fit:{}", path.string(), problems);
  }
}

/// Holds counts of a configuration against the tensors that are there, before a name for every
/// tensor of every layer is made: a wrong number would take all memory.
void refuse_numbers_without_tensors(const std::filesystem::path& source,
                                    const config::ModelConfig& model,
                                    const std::vector<TensorInfo>& tensors) {
  const auto there = static_cast<Index>(tensors.size());
  if (model.num_layers > there) {
    throw_data("{}: {} layers, but there are only {} tensors", source.string(), model.num_layers,
               there);
  }
  if (model.vlm && model.vlm->tower_layers > there) {
    throw_data("{}: {} layers of the image encoder, but there are only {} tensors", source.string(),
               model.vlm->tower_layers, there);
  }
  Index rows = 0;
  for (const TensorInfo& tensor : tensors) {
    rows = std::max(rows, tensor.shape.rank() > 0 ? tensor.shape[0] : 0);
  }
  if (model.num_attention_heads > rows || model.num_query_groups > rows) {
    throw_data("{}: {} heads, but there are only {} rows in the largest tensor", source.string(),
               std::max(model.num_attention_heads, model.num_query_groups), rows);
  }
  const Index experts = model.moe ? model.moe->num_experts : 0;
  if (experts > 0 && model.moe->count_layers() > there / experts) {
    throw_data("{}: {} experts in {} layers, but there are only {} tensors", source.string(),
               experts, model.moe->count_layers(), there);
  }
}

}  // namespace

ModelReader::ModelReader(const std::filesystem::path& path, const Settings& settings) {
  switch (settings.format) {
    case Format::mpitron:
      open<MpitronCheckpoint>(path);
      break;
    case Format::megatron_torch:
      open<MegatronTorch>(path);
      ignored_ = static_cast<MegatronTorch&>(*files_).ignored();
      break;
    case Format::megatron_torch_dist:
      open<MegatronDist>(path);
      break;
    case Format::hugging_face:
      open_hugging_face(path, settings);
      break;
  }
  if (settings.dtype) {
    cast_ = cast_source(*files_, *settings.dtype);
  }
  if (table_) {
    translate(path, settings.strict);
  }
  const std::string name = input_matrix_of(description_.model);
  const TensorInfo* input = ours().find(name);
  if (input == nullptr) {
    throw_data("{}: no {}", path.string(), name);
  }
  // The tensor is right where file and configuration differ: it is what gets loaded.
  description_.model.params_dtype = input->dtype;
  if (description_.model.family().has_words()) {
    description_.model.padded_vocab_size = input->shape[0];
  }
  if (!table_) {
    check_own_names(path, settings.strict);
  }
}

template <class Source>
void ModelReader::open(const std::filesystem::path& path) {
  auto source = std::make_unique<Source>(path);
  description_ = source->description();
  files_ = std::move(source);
}

void ModelReader::open_hugging_face(const std::filesystem::path& path, const Settings& settings) {
  const std::filesystem::path config = path / "config.json";
  description_ =
      read_hugging_face_config(read_file(config), config.string(),
                               settings.make_vocab_size_divisible_by, settings.model_type);
  description_.files.merge(read_companions(path));
  if (!settings.model_type.empty() && settings.model_type != description_.model_type) {
    throw_data("--model-type {}: {} says {}", settings.model_type, config.string(),
               description_.model_type);
  }
  files_ = std::make_unique<HuggingFaceFolder>(path);
  if (const auto order = stacked_experts(description_.model_type)) {
    files_ = unstack_experts(std::move(files_), *order);
  }
  if (has_two_frames(description_.model_type)) {
    files_ = fold_frames(std::move(files_));
  }
  refuse_numbers_without_tensors(config, description_.model, stored().tensors());
  table_ = make_name_table(description_.model_type, description_);
}

void ModelReader::translate(const std::filesystem::path& path, bool strict) {
  NameCheck check = check_theirs(stored(), *table_);
  refuse(path, check.problems(strict));
  ignored_ = std::move(check.ignored);
  unmapped_ = std::move(check.unmapped);
  translated_ = to_ours(stored(), *table_);
}

/// Checks tensors that have our names already. Any family's table of names also says which of our
/// tensors a model of this shape has; a model of no family goes unchecked.
void ModelReader::check_own_names(const std::filesystem::path& path, bool strict) {
  refuse_numbers_without_tensors(path, description_.model, ours().tensors());
  const std::string_view type = matching_model_type(description_);
  if (type.empty()) {
    return;
  }
  NameCheck check = check_ours(ours(), make_name_table(type, description_));
  refuse(path, check.problems(strict));
  unmapped_ = std::move(check.unmapped);
}

}  // namespace mpitron::convert
