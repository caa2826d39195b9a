#include "cli/checkpoint_path.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "data/images/drawn_sets.h"
#include "io/logs/json_text.h"
#include "utils/error.h"
#include "utils/log.h"

// `mpitron dataset images draw`: data sets of drawn shapes that need no download, for first runs of
// vision models and for tests.

namespace mpitron::cli {

int draw_images(const Arguments& arguments) {
  Arguments rest = arguments;
  const Arguments paths = take_paths(rest);
  data::DrawingPlan plan;
  bool questions = false, json = false;
  Flags flags("dataset images draw",
              "Draws images to learn from: shapes in a folder for each class or, with --questions, "
              "scenes of coloured shapes and what is asked about them. Sets to train on and to "
              "validate with; pixels follow from the seed.",
              "FOLDER");
  flags.option("--images", plan.images, "images to train on");
  flags.option("--validation-images", plan.validation_images, "images to validate with");
  flags.option("--edge", plan.edge, "width and height of an image, in pixels");
  flags.option("--seed", plan.seed, "random numbers of the images");
  flags.flag("--questions", questions, "scenes with questions about them, as JSON lines");
  flags.option("--words", plan.words_file, "with --questions: words, one a line, to be read there");
  flags.flag("--json", json, "print one JSON object");
  if (!flags.parse(rest)) {
    return 0;
  }
  if (paths.size() != 1) {
    throw_usage("mpitron dataset images draw FOLDER: given {} paths", paths.size());
  }
  if (plan.edge < 16 || plan.edge > 4096 || plan.images < 1 || plan.validation_images < 1) {
    throw_usage("dataset images draw: --edge {} is not 16 to 4096, or there are no images",
                plan.edge);
  }
  plan.folder = paths[0];
  questions ? data::draw_questions(plan) : data::draw_classes(plan);
  log::print(json ? fmt::format(R"({{"output": {}, "images": {}, "validation_images": {}}})",
                                io::json_string(plan.folder), plan.images, plan.validation_images)
                  : fmt::format("{}: {} images to train on, {} to validate with", plan.folder,
                                plan.images, plan.validation_images));
  return 0;
}

}  // namespace mpitron::cli
