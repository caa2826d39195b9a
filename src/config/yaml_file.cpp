#include "config/yaml_file.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "utils/error.h"
#include "utils/files.h"

namespace mpitron::config {
namespace {

std::string plain_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out +=
        c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// Groups of `--help`, and the two sections that files for the reference have.
bool is_section(const std::string& key) {
  const std::string name = plain_name(key);
  const auto tables = option_tables();
  return name == "language_model" || name == "model_parallel" ||
         std::any_of(tables.begin(), tables.end(),
                     [&](const OptionTable& t) { return plain_name(t.group) == name; });
}

class YamlReader {
 public:
  explicit YamlReader(std::string path) : path_(std::move(path)) {}

  Reading read() {
    try {
      const YAML::Node root = YAML::Load(read_file(path_));
      if (root.IsMap()) {
        section(root, true);
      } else if (!root.IsNull()) {
        problem(line_of(root), "expected lines of the form `option: value`", "");
      }
    } catch (const Error& error) {
      out_.findings.push_back(
          {ids::kFile, "configuration_file", fmt::format("{}.", error.what()), "", {"--yaml-cfg"}});
    } catch (const YAML::Exception& error) {
      problem(error.mark.line + 1, error.msg, "");
    }
    return std::move(out_);
  }

 private:
  static int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

  std::string place(int line) const { return line > 0 ? fmt::format("{}:{}", path_, line) : path_; }

  void problem(int line, const std::string& what, const std::string& nearest) {
    out_.findings.push_back({ids::kFile,
                             "configuration_file",
                             fmt::format("{}: {}.", place(line), what),
                             nearest,
                             {"--yaml-cfg"}});
  }

  void section(const YAML::Node& map, bool top) {
    for (const auto& pair : map) {
      const std::string key = pair.first.IsScalar() ? pair.first.Scalar() : "";
      if (top && pair.second.IsMap() && is_section(key)) {
        section(pair.second, false);
      } else {
        entry(key, pair.first, pair.second);
      }
    }
  }

  void entry(const std::string& key, const YAML::Node& key_node, const YAML::Node& node) {
    const OptionIndex& index = option_index();
    const Origin origin{Origin::Source::yaml, place(line_of(key_node))};
    const std::size_t by_name = index.slot_of_name(key);
    const std::size_t slot = by_name != OptionIndex::kNotFound ? by_name : index.slot_of_dest(key);
    if (slot == OptionIndex::kNotFound) {
      out_.findings.push_back(unknown_option(key, origin));
      return;
    }
    const auto [before, fresh] = lines_.emplace(slot, line_of(key_node));
    if (!fresh) {
      problem(
          line_of(key_node),
          fmt::format("--{} was set in line {} already", index.option(slot).name, before->second),
          "");
      return;
    }
    if (node.IsNull()) {
      return;
    }
    const bool is_flag =
        index.option(slot).kind == Kind::flag || index.option(slot).kind == Kind::flag_off;
    if (is_flag) {
      flag(slot, by_name != OptionIndex::kNotFound, node, origin);
    } else {
      out_.given.push_back({slot, words_of(node), origin});
    }
  }

  void flag(std::size_t slot, bool by_name, const YAML::Node& node, const Origin& origin) {
    const std::string word = node.IsScalar() ? interpolated(node) : "";
    if (word != "true" && word != "false") {
      problem(line_of(node), fmt::format("a flag is true or false, not '{}'", word), "");
      return;
    }
    const bool stored_when_given = option_index().option(slot).kind == Kind::flag;
    const bool stored = by_name ? (word == "true") == stored_when_given : word == "true";
    if (stored == stored_when_given) {
      out_.given.push_back({slot, {}, origin});
    }
  }

  std::vector<std::string> words_of(const YAML::Node& node) {
    std::vector<std::string> words;
    if (node.IsScalar()) {
      words.push_back(interpolated(node));
    } else if (node.IsSequence()) {
      for (const YAML::Node& item : node) {
        if (item.IsScalar()) {
          words.push_back(interpolated(item));
        } else {
          problem(line_of(item), "a list holds plain values", "");
        }
      }
    } else {
      problem(line_of(node), "expected a value or a list", "");
    }
    return words;
  }

  std::string interpolated(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    std::string out;
    std::size_t at = 0;
    for (std::size_t start = 0; (start = text.find("${", at)) != std::string::npos;) {
      const std::size_t end = text.find('}', start);
      if (end == std::string::npos) {
        problem(line_of(node), "expected } behind ${", "");
        break;
      }
      out += text.substr(at, start - at) +
             variable(text.substr(start + 2, end - start - 2), line_of(node));
      at = end + 1;
    }
    return out + text.substr(at);
  }

  std::string variable(const std::string& text, int line) {
    const std::size_t colon = text.find(":-");
    const std::string name = text.substr(0, colon);
    if (const char* value = std::getenv(name.c_str())) {
      return value;
    }
    if (colon != std::string::npos) {
      return text.substr(colon + 2);
    }
    problem(line, fmt::format("the environment variable {} is not set", name),
            fmt::format("${{{}:-default}}", name));
    return {};
  }

  std::string path_;
  std::map<std::size_t, int> lines_;  // where an option was set
  Reading out_;
};

}  // namespace

Reading read_yaml_file(const std::string& path) {
  return YamlReader(path).read();
}

}  // namespace mpitron::config
