#pragma once
#include <span>
#include <string>
#include <vector>

#include "data/images/image_conversations.h"

namespace mpitron::data {

/// The place of an image among endless drawn ones: every pixel and word follows from it.
struct ScenePlace {
  std::uint64_t seed = 0;
  Index number = 0;
  Index set = 0;  // to train on, to validate with: they share no image
};

/// Returns the names of the shapes that `drawn_shape` draws; their order is that of the names.
std::span<const std::string_view> drawn_classes();

/// Draws a figure of a shape; its place, size and colour, those of the ground, and noise differ
/// from image to image. `edge`: in pixels, at least 16.
images::Image drawn_shape(Index shape, const ScenePlace& place, Index edge);

/// A scene of up to nine figures and, with `words`, one of them in capitals below; what can be
/// asked about them. The first question is about a kind of which there are none to four, each as
/// often; the last one is about the word.
struct DrawnScene {
  images::Image image;
  /// A question, and the one right answer.
  struct Question {
    std::string text, answer;
  };
  std::vector<Question> questions;
};
/// Draws the scene at a place; `words` are those of which one is written below it. `edge` as above.
DrawnScene drawn_scene(const ScenePlace& place, Index edge, std::span<const std::string> words);

}  // namespace mpitron::data
