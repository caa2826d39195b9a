#include "data/images/drawn_sets.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "data/images/drawn_scenes.h"
#include "images/codecs/formats.h"
#include "io/logs/json_text.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Folders of drawn images for `mpitron dataset images`: a set of classes as training reads it, or
// conversations about scenes with their questions.

namespace mpitron::data {
namespace {

constexpr std::array<const char*, 2> kSets = {"train", "valid"};

void write_png(const std::filesystem::path& path, const images::Image& image) {
  std::ofstream file(path, std::ios::binary);
  file << images::encode_png(image);
  if (!file.flush()) {
    throw_data("{}: cannot be written", path.string());
  }
}

/// Returns the words of a file that are of small letters only, one a line, and fit below a scene
/// (six pixels a letter); others are left out.
std::vector<std::string> words_of(const std::string& path, Index edge) {
  std::vector<std::string> words;
  std::istringstream lines(path.empty() ? std::string() : read_file(path));
  for (std::string word; std::getline(lines, word);) {
    const bool letters = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
    if (letters && !word.empty() && static_cast<Index>(word.size()) * 6 + 3 <= edge) {
      words.push_back(word);
    }
  }
  if (!path.empty() && words.empty()) {
    throw_data("{}: no word of small letters that fits {} pixels", path, edge);
  }
  return words;
}

std::string turn(const char* from, const std::string& text) {
  return fmt::format(R"({{"from": "{}", "value": {}}})", from, io::json_string(text));
}

}  // namespace

void draw_classes(const DrawingPlan& plan) {
  const auto classes = drawn_classes();
  for (Index set = 0; set < 2; ++set) {
    const std::filesystem::path folder = std::filesystem::path(plan.folder) / kSets[set];
    for (const std::string_view name : classes) {
      std::filesystem::create_directories(folder / name);
    }
    for (Index number = 0; number < plan.count(set); ++number) {
      const Index shape = number % static_cast<Index>(classes.size());
      const ScenePlace place{static_cast<std::uint64_t>(plan.seed), number, set};
      write_png(
          folder / classes[static_cast<std::size_t>(shape)] / fmt::format("{:05}.png", number),
          drawn_shape(shape, place, plan.edge));
    }
  }
}

void draw_questions(const DrawingPlan& plan) {
  const std::filesystem::path folder = plan.folder;
  const std::vector<std::string> words = words_of(plan.words_file, plan.edge);
  std::filesystem::create_directories(folder);
  std::ofstream asked(folder / "questions.jsonl");
  for (Index set = 0; set < 2; ++set) {
    std::filesystem::create_directories(folder / kSets[set]);
    std::ofstream file(folder / fmt::format("{}.jsonl", kSets[set]));
    for (Index number = 0; number < plan.count(set); ++number) {
      const DrawnScene scene =
          drawn_scene({static_cast<std::uint64_t>(plan.seed), number, set}, plan.edge, words);
      const std::string name = fmt::format("{}/{:05}.png", kSets[set], number);
      write_png(folder / name, scene.image);
      std::string turns;
      for (const auto& question : scene.questions) {
        turns += turns.empty() ? turn("human", "<image>\n" + question.text)
                               : ", " + turn("human", question.text);
        turns += ", " + turn("gpt", question.answer);
      }
      file << fmt::format("{{\"image\": \"{}\", \"conversations\": [{}]}}\n", name, turns);
      const auto& one =
          number % 2 == 0 || words.empty() ? scene.questions.front() : scene.questions.back();
      if (set == 1) {
        asked << fmt::format("{{\"image\": \"{}\", \"question\": {}, \"answers\": [{}]}}\n", name,
                             io::json_string(one.text), io::json_string(one.answer));
      }
    }
    if (!file.flush() || !asked.flush()) {
      throw_data("{}: cannot be written", plan.folder);
    }
  }
}

}  // namespace mpitron::data
