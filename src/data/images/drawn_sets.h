#pragma once
#include <string>

#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Kind and number of the images to draw; the folder is made where it is missing.
struct DrawingPlan {
  std::string folder;
  std::string words_file;  // with questions: small letters, one word a line; empty: none
  Index images = 3000, validation_images = 600;
  Index edge = 32;  // width and height in pixels
  Index seed = 1234;

  Index count(Index set) const { return set == 0 ? images : validation_images; }
};

/// Writes FOLDER/train/CLASS/00000.png and FOLDER/valid/..., classes in turn. Error(data) where a
/// file cannot be written.
void draw_classes(const DrawingPlan& plan);

/// Writes FOLDER/train.jsonl, conversations about FOLDER/train/00000.png and so on,
/// FOLDER/valid.jsonl, and FOLDER/questions.jsonl: one question about each image of the latter,
/// with its answers. Error(data) where a file cannot be written, or no word fits.
void draw_questions(const DrawingPlan& plan);

}  // namespace mpitron::data
