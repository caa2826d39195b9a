#include "report/study.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "utils/error.h"
#include "utils/system/files.h"

// Reads the YAML file of a scaling study, and refuses what it does not understand with the line.

namespace mpitron::report {
namespace {

using Words = std::vector<std::string>;
/// The words behind each flag, by name; none for a flag that is off.
using FlagWords = std::map<std::string, std::optional<Words>>;

class StudyReader {
 public:
  explicit StudyReader(const std::filesystem::path& path) : path_(path.string()) {}

  /// Reads the file; errors of the YAML library get the file and the line.
  Study read() {
    try {
      return study(YAML::Load(read_file(path_)));
    } catch (const YAML::Exception& error) {
      fail(error.mark.line, error.msg);
    }
  }

 private:
  [[noreturn]] void fail(int line, const std::string& what) const {
    throw_usage("{}:{}: {}", path_, line + 1, what);
  }
  [[noreturn]] void fail(const YAML::Node& node, const std::string& what) const {
    fail(node.Mark().line, what);
  }

  /// Reads the whole study. Unknown keys are refused, since a misspelt one would silently not hold.
  Study study(const YAML::Node& node) const {
    check_keys(node, {"name", "kind", "command", "warm-up", "threads-per-rank", "peak-tflops",
                      "flags", "points"});
    Study result;
    result.name = required(node, "name").as<std::string>();
    result.kind = kind(required(node, "kind"));
    result.command = node["command"].as<std::string>(result.command);
    result.warm_up = whole(node["warm-up"], result.warm_up, 0);
    result.threads_per_rank = whole(node["threads-per-rank"], result.threads_per_rank, 1);
    result.peak_tflops = positive(node["peak-tflops"]);
    const FlagWords common = flags(node["flags"]);
    const YAML::Node points = required(node, "points");
    if (!points.IsSequence() || points.size() == 0) {
      fail(points, "points: a list of one or more runs is expected");
    }
    std::set<std::string> names;
    for (const YAML::Node& entry : points) {
      result.points.push_back(point(entry, common));
      if (!names.insert(result.points.back().name).second) {
        fail(entry, fmt::format("two points have the name '{}'", result.points.back().name));
      }
    }
    return result;
  }

  /// Reads a point; its flags replace those that all points share.
  StudyPoint point(const YAML::Node& node, const FlagWords& common) const {
    check_keys(node, {"name", "ranks", "flags", "published-tflops"});
    StudyPoint result{.name = required(node, "name").as<std::string>(),
                      .ranks = whole(required(node, "ranks"), 1, 1),
                      .flags = {},
                      .published_tflops = positive(node["published-tflops"])};
    if (result.name.empty() || result.name.front() == '.' ||
        result.name.find('/') != std::string::npos) {
      fail(node, fmt::format("'{}' cannot be the name of a folder", result.name));
    }
    FlagWords words = flags(node["flags"]);
    words.insert(common.begin(), common.end());  // the point's own come first
    for (const auto& [name, values] : words) {
      if (values) {
        result.flags.push_back("--" + name);
        result.flags.insert(result.flags.end(), values->begin(), values->end());
      }
    }
    return result;
  }

  /// Reads flags: a list becomes several words, true a flag without a value, false takes one away.
  FlagWords flags(const YAML::Node& node) const {
    FlagWords words;
    if (node && !node.IsMap()) {
      fail(node, "flags: lines of the form `option: value` are expected");
    }
    for (const auto& pair : node) {
      std::string name = pair.first.as<std::string>();
      std::replace(name.begin(), name.end(), '_', '-');
      words[name] =
          pair.second.IsSequence() ? pair.second.as<Words>() : Words{pair.second.as<std::string>()};
      if (words[name] == Words{"true"}) {
        words[name] = Words{};
      } else if (words[name] == Words{"false"}) {
        words[name].reset();
      }
    }
    return words;
  }

  ScalingKind kind(const YAML::Node& node) const {
    const auto word = node.as<std::string>();
    if (word != "weak" && word != "strong") {
      fail(node, fmt::format("kind: '{}' is none of weak and strong", word));
    }
    return word == "weak" ? ScalingKind::weak : ScalingKind::strong;
  }

  std::int64_t whole(const YAML::Node& node, std::int64_t otherwise, std::int64_t least) const {
    const auto value = node ? node.as<std::int64_t>() : otherwise;
    if (value < least) {
      fail(node, fmt::format("{}: it must be {} or more", value, least));
    }
    return value;
  }

  double positive(const YAML::Node& node) const {
    if (!node) {
      return kMissing;
    }
    const auto value = node.as<double>();
    if (!(value > 0)) {
      fail(node, fmt::format("{}: it must be above 0", value));
    }
    return value;
  }

  YAML::Node required(const YAML::Node& node, const char* key) const {
    if (!node[key]) {
      fail(node, fmt::format("'{}' is missing", key));
    }
    return node[key];
  }

  /// Refuses other keys than these, and names these.
  void check_keys(const YAML::Node& node, const Words& known) const {
    if (!node.IsMap()) {
      fail(node, fmt::format("lines of the form `key: value` are expected; the keys are {}",
                             fmt::join(known, ", ")));
    }
    for (const auto& pair : node) {
      const auto key = pair.first.as<std::string>();
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        fail(pair.first,
             fmt::format("unknown key '{}'; the keys are {}", key, fmt::join(known, ", ")));
      }
    }
  }

  std::string path_;
};

}  // namespace

Study read_study(const std::filesystem::path& path) {
  return StudyReader(path).read();
}

}  // namespace mpitron::report
