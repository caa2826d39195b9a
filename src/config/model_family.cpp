#include "config/model_family.h"

#include <algorithm>
#include <array>

// The table of model families: what flags, rules and layers need to know of each kind of --model.

namespace mpitron::config {
namespace {

constexpr auto kFamilies = std::to_array<ModelFamily>({
    {.kind = ModelKind::gpt,
     .name = "gpt",
     .title = "GPT",
     .samples = SampleKind::texts,
     .decoder_only = true},
    {.kind = ModelKind::mamba,
     .name = "mamba",
     .title = "Mamba",
     .samples = SampleKind::texts,
     .decoder_only = true,
     .by_letters = true},
    {.kind = ModelKind::bert,
     .name = "bert",
     .title = "BERT",
     .samples = SampleKind::sentence_pairs},
    {.kind = ModelKind::t5,
     .name = "t5",
     .title = "T5",
     .samples = SampleKind::masked_spans,
     .encoder_decoder = true},
    {.kind = ModelKind::vit, .name = "vit", .title = "ViT", .samples = SampleKind::images},
    {.kind = ModelKind::vlm,
     .name = "vlm",
     .title = "GPT that sees images",
     .samples = SampleKind::image_texts,
     .decoder_only = true},
});

constexpr bool in_order() {
  std::size_t place = 0;
  return std::ranges::all_of(kFamilies, [&](const ModelFamily& family) {
    return static_cast<std::size_t>(family.kind) == place++;
  });
}
/// Rows are found by their place.
static_assert(in_order());

}  // namespace

std::span<const ModelFamily> model_families() {
  return kFamilies;
}

const ModelFamily& family_of(ModelKind kind) {
  return kFamilies[static_cast<std::size_t>(kind)];
}

const ModelFamily& family_of(std::string_view name) {
  const auto family = std::ranges::find(kFamilies, name, &ModelFamily::name);
  return family == kFamilies.end() ? kFamilies.front() : *family;
}

}  // namespace mpitron::config
