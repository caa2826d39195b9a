#include "config/sources/yaml_file.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <string>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "utils/error.h"
#include "utils/system/files.h"

// Options from a YAML file (--yaml-cfg).

namespace mpitron::config {
namespace {

/// Makes keys and headings comparable without case, blanks and dashes.
std::string plain_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out +=
        c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// Accepts the groups of `--help`, and the two sections that files for the reference have.
bool is_section(const std::string& key) {
  const std::string name = plain_name(key);
  const auto tables = option_tables();
  return name == "language_model" || name == "model_parallel" ||
         std::any_of(tables.begin(), tables.end(),
                     [&](const OptionTable& t) { return plain_name(t.group) == name; });
}

/// Walks over the file and collects options and mistakes; scalars are expanded before they are
/// read.
class YamlReader {
 public:
  explicit YamlReader(std::string path) : path_(std::move(path)) {}

  /// Turns errors of the YAML library into findings with their lines.
  Reading read() {
    try {
      const YAML::Node root = YAML::Load(read_file(path_));
      if (root.IsMap()) {
        section(root, true);
        one_activation();
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

  /// Adds a finding with the line, 0 where there is none.
  void problem(int line, const std::string& what, const std::string& nearest) {
    out_.findings.push_back({ids::kFile,
                             "configuration_file",
                             fmt::format("{}: {}.", place(line), what),
                             nearest,
                             {"--yaml-cfg"}});
  }

  /// Reads a map: headings of the reference's schema and of --help hold options; deeper nesting has
  /// no meaning.
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

  /// Looks a key up among option names first, then stored names, then the reference's fields.
  void entry(const std::string& key, const YAML::Node& key_node, const YAML::Node& node) {
    const OptionIndex& index = option_index();
    const Origin origin{Origin::Source::yaml, place(line_of(key_node))};
    const std::size_t by_name = index.slot_of_name(key);
    std::size_t slot = by_name != OptionIndex::kNotFound ? by_name : index.slot_of_dest(key);
    if (slot == OptionIndex::kNotFound) {
      const std::optional<YamlName> other = yaml_name(key);
      if (!other) {
        out_.findings.push_back(unknown_option(key, origin));
        return;
      }
      if (other->meaning != YamlName::Meaning::other_name) {
        without_option(*other, node, origin);
        return;
      }
      slot = index.slot_of_dest(other->dest);
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
      std::vector<std::string> words = words_of(node);
      if (index.option(slot).type == Type::boolean) {
        std::ranges::transform(words, words.begin(), boolean_word);
      }
      out_.given.push_back({slot, std::move(words), origin});
    }
  }

  static std::string boolean_word(const std::string& word) {
    const std::optional<bool> value = yaml_boolean(word);
    return !value ? word : *value ? "true" : "false";
  }

  /// Handles a name of the reference's files that is no option's.
  void without_option(const YamlName& name, const YAML::Node& node, const Origin& origin) {
    const std::string word = node.IsScalar() ? interpolated(node) : "";
    if (name.meaning == YamlName::Meaning::without_use || node.IsNull()) {
      return;
    }
    std::optional<std::string_view> flag;
    if (name.meaning == YamlName::Meaning::activation) {
      flag = flag_of_activation(word);
      activation_ = flag;
    } else if (name.meaning == YamlName::Meaning::initial && word == "xavier_uniform") {
      flag = name.dest;
    } else if (name.meaning == YamlName::Meaning::must_be_off && is_off(word)) {
      flag = "";
    }
    if (!flag) {
      problem(line_of(node), fmt::format("{}: '{}' cannot be had here", name.name, word),
              name.dest.empty() ? "" : option_of(name.dest));
    } else if (!flag->empty()) {
      out_.given.push_back({option_index().slot_of_dest(*flag), {}, origin});
    }
  }

  /// Refuses an activation_func that the flags contradict.
  void one_activation() {
    const OptionIndex& index = option_index();
    for (const char* flag : {"swiglu", "squared_relu"}) {
      const std::size_t slot = index.slot_of_dest(flag);
      const bool given = std::ranges::any_of(
          out_.given, [&](const GivenOption& option) { return option.slot == slot; });
      if (activation_ && given && *activation_ != flag) {
        problem(0, fmt::format("activation_func is not {}, which is true as well", flag), "");
      }
    }
  }

  static bool is_off(const std::string& word) {
    return word == "0" || !yaml_boolean(word).value_or(true);
  }

  static std::string option_of(std::string_view dest) {
    const OptionIndex& index = option_index();
    return fmt::format("--{}", index.option(index.slot_of_dest(dest)).name);
  }

  /// Reads a flag as on or off; a stored name may be the negation of the flag's.
  void flag(std::size_t slot, bool by_name, const YAML::Node& node, const Origin& origin) {
    const std::string word = node.IsScalar() ? interpolated(node) : "";
    const std::optional<bool> value = yaml_boolean(word);
    if (!value) {
      problem(line_of(node), fmt::format("a flag is true or false, not '{}'", word), "");
      return;
    }
    const bool stored_when_given = option_index().option(slot).kind == Kind::flag;
    const bool stored = by_name ? *value == stored_when_given : *value;
    if (stored == stored_when_given) {
      out_.given.push_back({slot, {}, origin});
    }
  }

  /// Reads a scalar as one word, a list as several.
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

  /// Expands ${NAME} and ${NAME:-text} anywhere in a scalar, and nothing else.
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

  /// Makes an unset variable without a text a finding, not an empty word.
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
  std::map<std::size_t, int> lines_;            // where an option was set
  std::optional<std::string_view> activation_;  // the flag of activation_func, if that is given
  Reading out_;
};

}  // namespace

Reading read_yaml_file(const std::string& path) {
  return YamlReader(path).read();
}

}  // namespace mpitron::config
