#include "plan/machine/parameter_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "plan/machine/exit_codes.h"

// Reads machine, stack and recipe files (YAML), with the line of each mistake.

namespace mpitron::plan {
namespace {

[[noreturn]] void fail(const std::string& path, int line, const std::string& what) {
  throw Error(kBadParameterFile, fmt::format("{}:{}: {}", path, line + 1, what));
}

/// Joins nested keys by dots: gpu: {peak: {bf16: ...}} becomes gpu.peak.bf16.
void flatten(const YAML::Node& node, const std::string& prefix,
             std::map<std::string, std::string>& values) {
  for (const auto& entry : node) {
    const std::string key = prefix + entry.first.as<std::string>();
    if (entry.second.IsMap()) {
      flatten(entry.second, key + ".", values);
    } else {
      values[key] = entry.second.as<std::string>();
    }
  }
}

void read_fitted(const YAML::Node& node, ParameterFile& file) {
  for (const auto& entry : node) {
    const std::string key = entry.first.as<std::string>();
    double value = 0;
    if (!YAML::convert<double>::decode(entry.second, value)) {
      fail(file.path, entry.second.Mark().line,
           fmt::format("fitted {}: a number is expected", key));
    }
    file.fitted[key] = value;
  }
}

void read_measured(const YAML::Node& node, ParameterFile& file) {
  auto costs = std::make_shared<MeasuredCosts>();
  for (const auto& entry : node) {
    for (const YAML::Node& line : entry.second) {
      costs->read_line(entry.first.as<std::string>(), line.as<std::string>(), file.path);
    }
  }
  file.measured = std::move(costs);
}

ParameterFile read(const YAML::Node& root, const std::string& path) {
  if (!root.IsMap() || !root["name"]) {
    fail(path, 0, "a map with a `name` is expected");
  }
  ParameterFile file{.name = root["name"].as<std::string>(), .path = path};
  for (const auto& entry : root) {
    const std::string key = entry.first.as<std::string>();
    if (key == "extends") {
      file.extends = entry.second.as<std::string>();
    } else if (key == "aliases") {
      file.aliases = entry.second.as<std::vector<std::string>>();
    } else if (key == "fitted") {
      read_fitted(entry.second, file);
    } else if (key == "measured") {
      read_measured(entry.second, file);
    } else if (entry.second.IsMap()) {
      flatten(entry.second, key + ".", file.values);
    } else if (key != "name") {
      file.values[key] = entry.second.as<std::string>();
    }
  }
  return file;
}

}  // namespace

ParameterFile parse_parameter_file(const std::string& text, const std::string& path) {
  try {
    return read(YAML::Load(text), path);
  } catch (const YAML::Exception& error) {
    fail(path, error.mark.line, error.msg);
  }
}

/// The block stands last in a file, so that comments above it survive a fit.
std::string with_fitted(const std::string& text, const std::map<std::string, double>& fitted) {
  const auto at = text.rfind("\nfitted:");
  std::string result = text.substr(0, at == std::string::npos ? text.size() : at + 1);
  result += "fitted:\n";
  for (const auto& [key, value] : fitted) {
    result += fmt::format("  {}: {:.4g}\n", key, value);
  }
  return result;
}

}  // namespace mpitron::plan
