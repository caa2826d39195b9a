#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::data {

/// A text, or two that are read together.
struct TextPair {
  std::string first;
  std::optional<std::string> second = std::nullopt;
};

/// A sample of a task: one pair and its class or score, or several of which one is right.
struct LabelledText {
  /// A pair for tasks of a class or a score; the four answers of a question of RACE.
  std::vector<TextPair> pairs;
  double label = 0;  // class, score, or the right pair
  Index id = 0;      // as the file has it, else the number of the sample
};

/// Reads a file in the format of a task of GLUE (tab-separated), or of a folder of RACE's `.txt`
/// files (JSON lines, in the order of the files' names). Files without labels have label 0.
/// Error(data) names file and line for another number of columns, an empty text, an unknown label;
/// QQP's rows of that kind are left out with a warning, as the reference leaves them out.
std::vector<LabelledText> read_labelled_texts(std::string_view task, const std::string& path);

/// Reads every article of a folder of RACE's files: a JSON object a line. Error(data) names the
/// file and the line.
std::vector<LabelledText> read_race(const std::string& folder);

/// Returns the text as the reference's clean_text does: line feeds and runs of white space become
/// one blank; up to three times in a row " . " becomes ". ".
std::string clean_text(std::string_view text);

/// Returns the name of a file in the log: the part of its path behind the task's name, without the
/// ending, with dashes ("dev-matched").
std::string data_name(std::string_view task, std::string path);

}  // namespace mpitron::data
