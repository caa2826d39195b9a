#include <algorithm>

#include "models/vit/position_table.h"
#include "train/checkpointing/checkpoint_loader.h"
#include "utils/log.h"

// Position tables of images of another size: the stored rows are loaded beside the model, and
// resized to its grid when all are there.

namespace mpitron::train {
namespace {

/// Null where none of the sources is there.
const checkpoint::DataSet* stored(const checkpoint::File& file,
                                  const checkpoint::LoadTarget& target) {
  for (const std::string& name : target.sources) {
    if (const auto* found = file.find(name)) {
      return found;
    }
  }
  return target.sources.empty() ? file.find(target.tensor.name) : nullptr;
}

/// The images whose positions a table has.
config::VisionConfig images_of(const config::ModelConfig& model) {
  if (!model.vlm) {
    return model.vision;
  }
  return {.image_height = model.vlm->tile,
          .image_width = model.vlm->tile,
          .patch = model.vlm->patch,
          .class_tokens = model.vlm->tower_tokens()};
}

/// Tables with class tokens behind the patches (Llama 4) are not resized.
bool is_table_of_images(const config::ModelConfig& model, const std::string& name) {
  if (model.vlm && model.vlm->parts().class_token == config::ClassToken::behind) {
    return false;
  }
  const bool tower = name.find("vision_model.") != std::string::npos;
  const bool sees_images = model.vlm ? tower : !model.family().has_words();
  return sees_images && name.ends_with("position_embeddings.weight");
}

}  // namespace

/// Replaces targets of position tables of another size by memory for the stored rows.
PositionTables::PositionTables(const checkpoint::File& file, const config::ModelConfig& model,
                               std::vector<checkpoint::LoadTarget>& targets) {
  for (checkpoint::LoadTarget& target : targets) {
    const auto* found = stored(file, target);
    const Shape& shape = target.tensor.shape;
    if (found == nullptr || !is_table_of_images(model, target.tensor.name) ||
        found->shape.rank() != 2 || found->shape[0] == shape[0] || found->shape[1] != shape[1]) {
      continue;
    }
    log::info("{}: {} rows of positions are resized to {}", target.tensor.name, found->shape[0],
              shape[0]);
    Table& table = tables_.emplace_back(
        Table{images_of(model), found->shape[0],
              std::vector<float>(static_cast<std::size_t>(found->shape.numel())), target.tensor});
    target.tensor = {.name = target.tensor.name,
                     .shape = found->shape,
                     .value = {table.values.data(), DType::f32, {found->shape.numel()}}};
  }
}

void PositionTables::resize() const {
  for (const Table& table : tables_) {
    const std::vector<float> resized =
        models::resized_positions(table.values, table.rows, table.vision);
    visit_dtype(table.piece.value.dtype, [&]<class T>() {
      auto* to = table.piece.value.as<T>();
      for (Index i = 0; i < table.piece.value.numel(); ++i) {
        to[i] = T(resized[static_cast<std::size_t>(table.piece.begin + i)]);
      }
    });
  }
}

}  // namespace mpitron::train
