#include "data/images/drawn_scenes.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "images/augment/draws.h"
#include "images/drawing/figures.h"

// Drawn images for examples and tests: shapes to classify, and scenes with questions about them.
// All is drawn from counters, so that an image does not depend on those before it.

namespace mpitron::data {
namespace {

using images::Colour;
using images::Draws;
using images::Figure;
using images::Image;

constexpr std::array<std::string_view, 6> kShapes = {"circle", "cross",  "diamond",
                                                     "ring",   "square", "triangle"};
constexpr std::array<Figure::Shape, 6> kFigures = {Figure::Shape::circle,  Figure::Shape::cross,
                                                   Figure::Shape::diamond, Figure::Shape::ring,
                                                   Figure::Shape::square,  Figure::Shape::triangle};

// Words and colours of the shapes in scenes.
struct NamedColour {
  std::string_view name;
  Colour colour;
};
constexpr std::array<NamedColour, 3> kColours = {
    {{"red", {220, 50, 40}}, {"green", {40, 170, 70}}, {"blue", {50, 90, 220}}}};
constexpr std::array<std::size_t, 3> kSceneShapes = {0, 4, 5};  // circle, square, triangle
constexpr Index kCells = 3;                                     // in a row, and rows
constexpr Index kMostAlike = 4;
constexpr Index kKinds = 9;  // of figures

// Random numbers of an image, the first of each use.
enum DrawNumberOfScene : std::uint32_t {
  kGround = 0,
  kPlace = 8,
  kKind = 16,
  kCellOrder = 32,
  kCell = 64,  // four for each
  kNoise = 128
};

Draws draws_of(const ScenePlace& place) {
  return Draws({.seed = place.seed, .sample = place.number, .view = place.set});
}

Colour any_colour(const Draws& draws, std::uint32_t first, Index low, Index high) {
  Colour colour;
  for (std::uint32_t i = 0; i < colour.size(); ++i) {
    colour[i] = static_cast<std::uint8_t>(low + draws.below(first + i, high - low));
  }
  return colour;
}

/// Moves levels by up to eight up or down, the same in all channels of a pixel.
void add_noise(Image& image, const Draws& draws) {
  for (Index y = 0; y < image.height; ++y) {
    for (Index x = 0; x < image.width; ++x) {
      const auto number = static_cast<std::uint32_t>(kNoise + y * image.width + x);
      const Index change = draws.below(number, 17) - 8;
      for (Index channel = 0; channel < images::kChannels; ++channel) {
        std::uint8_t& level = image.row(y)[x * images::kChannels + channel];
        level = images::clamped(level + change);
      }
    }
  }
}

/// Figures of a scene: how often each kind, a colour and a shape, is seen.
using Counts = std::array<Index, kKinds>;

/// The kind that a scene is asked about, and how many of it there are: as often none as four, so
/// that words alone do not tell the answer.
struct Asked {
  Index kind, count;
  explicit Asked(const Draws& draws)
      : kind(draws.below(kKind, kKinds)), count(draws.below(kKind + 1, kMostAlike + 1)) {}
};

/// Shuffles the cells (Fisher and Yates, from the inside out).
std::array<Index, kCells * kCells> cell_order(const Draws& draws) {
  std::array<Index, kCells * kCells> order{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto at = static_cast<std::size_t>(
        draws.below(kCellOrder + static_cast<std::uint32_t>(i), static_cast<Index>(i) + 1));
    order[i] = order[at];
    order[at] = static_cast<Index>(i);
  }
  return order;
}

/// Paints the kind that is asked for, and others in some of the cells left.
Counts paint_cells(Image& image, const Draws& draws, const Asked& asked, Index height) {
  Counts counts{};
  const auto order = cell_order(draws);
  const Index width = image.width / kCells, row = height / kCells;
  const double most = static_cast<double>(std::min(width, row)) / 2;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(kCell + 4 * i);
    const bool counts_it = static_cast<Index>(i) < asked.count;
    const Index other = (asked.kind + 1 + draws.below(number, kKinds - 1)) % kKinds;
    if (!counts_it && draws.happens(number + 1, 0.5)) {
      continue;
    }
    const auto which = static_cast<std::size_t>(counts_it ? asked.kind : other);
    const double shift = draws.between(number + 2, -0.1, 0.1) * most;
    paint(image,
          {.shape = kFigures[kSceneShapes[which % 3]],
           .colour = kColours[which / 3].colour,
           .x = (static_cast<double>(order[i] % kCells) + 0.5) * static_cast<double>(width) + shift,
           .y = (static_cast<double>(order[i] / kCells) + 0.5) * static_cast<double>(row),
           .radius = draws.between(number + 3, 0.7, 0.9) * most});
    ++counts[which];
  }
  return counts;
}

/// Asks how often each kind is seen, from `first` on, round and round.
std::vector<DrawnScene::Question> questions_about(const Counts& counts, Index first) {
  std::vector<DrawnScene::Question> questions;
  for (Index i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<std::size_t>((first + i) % kKinds);
    questions.push_back(
        {fmt::format("How many {} {}s?", kColours[kind / 3].name, kShapes[kSceneShapes[kind % 3]]),
         std::to_string(counts[kind])});
  }
  return questions;
}

}  // namespace

std::span<const std::string_view> drawn_classes() {
  return kShapes;
}

Image drawn_shape(Index shape, const ScenePlace& place, Index edge) {
  const Draws draws = draws_of(place);
  const double length = static_cast<double>(edge);
  const double radius = draws.between(kPlace, 0.25, 0.4) * length;
  Image image = images::filled({edge, edge}, any_colour(draws, kGround, 0, 110));
  paint(image, {.shape = kFigures[static_cast<std::size_t>(shape)],
                .colour = any_colour(draws, kGround + 3, 130, 256),
                .x = draws.between(kPlace + 1, radius, length - radius),
                .y = draws.between(kPlace + 2, radius, length - radius),
                .radius = radius});
  add_noise(image, draws);
  return image;
}

DrawnScene drawn_scene(const ScenePlace& place, Index edge, std::span<const std::string> words) {
  const Draws draws = draws_of(place);
  DrawnScene scene{.image = images::filled({edge, edge}, {235, 235, 235}), .questions = {}};
  const Index below = words.empty() ? 0 : edge / 4;
  const Asked asked(draws);
  scene.questions =
      questions_about(paint_cells(scene.image, draws, asked, edge - below), asked.kind);
  if (!words.empty()) {
    const std::string& word =
        words[static_cast<std::size_t>(draws.below(kPlace, static_cast<Index>(words.size())))];
    const Index top = edge - below + 1;
    paint_word(scene.image, word, {2, top, edge - 2, below - 1}, {20, 20, 20});
    scene.questions.push_back({"Which word?", word});
  }
  add_noise(scene.image, draws);
  return scene;
}

}  // namespace mpitron::data
