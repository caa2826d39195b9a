#include "data/images/image_tiles.h"

#include <span>

#include "images/augment/views.h"
#include "images/transforms/tiles.h"

// From an image to the numbers that a vision tower reads: cut into tiles, resized and normalised as
// CLIP (and Qwen2-VL's encoder) or SigLIP (and Llama 4's) was trained.

namespace mpitron::data {
namespace {

/// Means and deviations of CLIP's training images, and those of SigLIP.
constexpr images::Normalisation kClip{{0.48145466f, 0.4578275f, 0.40821073f},
                                      {0.26862954f, 0.26130258f, 0.27577711f}};
constexpr images::Normalisation kSiglip{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}};

}  // namespace

/// Appends [tiles, channels, height, width], the thumbnail last.
void append_tiles(const images::Image& image, const config::VlmConfig& vlm,
                  std::vector<float>& planes) {
  const bool clip = vlm.tower == config::TowerKind::clip,
             from_half =
                 vlm.tower == config::TowerKind::siglip || vlm.tower == config::TowerKind::llama4;
  // CLIP resizes a palette's indices, others its colours.
  const images::Tiling tiling{.tile = vlm.tile,
                              .most_tiles = vlm.tiling.most_tiles,
                              .area_weighted = vlm.tiling.area_weighted,
                              .thumbnail = vlm.tiling.thumbnail,
                              .keeps_palettes = clip};
  const auto pixels = static_cast<std::size_t>(vlm.pixels());
  for (const images::Image& tile : images::cut_into_tiles(image, tiling)) {
    planes.resize(planes.size() + pixels);
    images::write_planes(tile, from_half ? kSiglip : kClip, std::span(planes).last(pixels));
  }
}

}  // namespace mpitron::data
