#include "plan/machine/library.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "plan/machine/exit_codes.h"

// Parameter files by name, and the inheritance among them: a file's values go before those of the
// file that it extends.

namespace mpitron::plan {

ParameterFiles::ParameterFiles(const std::vector<ShippedFile>& shipped) {
  for (const ShippedFile& file : shipped) {
    add(parse_parameter_file(file.text, file.path));
  }
}

/// A file of the user takes the place of a shipped one of its name.
void ParameterFiles::add(ParameterFile file) {
  std::erase_if(files_, [&](const ParameterFile& known) { return known.name == file.name; });
  files_.push_back(std::move(file));
}

const ParameterFile* ParameterFiles::find(const std::string& name) const {
  for (const ParameterFile& file : files_) {
    if (file.name == name || std::ranges::find(file.aliases, name) != file.aliases.end()) {
      return &file;
    }
  }
  return nullptr;
}

WrittenValues ParameterFiles::values(const ParameterFile& file) const {
  WrittenValues result;
  // From the file up to its ancestors; try_emplace lets the nearest value win, and fitted values
  // before plain ones of the same file. A chain of more steps than there are files is a circle.
  const ParameterFile* from = &file;
  for (std::size_t steps = 0; from != nullptr && steps <= files_.size(); ++steps) {
    for (const auto& [key, value] : from->fitted) {
      result.try_emplace(key, WrittenValue{fmt::format("{}", value), from->path});
    }
    for (const auto& [key, value] : from->values) {
      result.try_emplace(key, WrittenValue{value, from->path});
    }
    if (from->extends.empty()) {
      return result;
    }
    const std::string& parent = from->extends;
    const std::string path = from->path;
    from = find(parent);
    if (from == nullptr) {
      throw Error(kBadParameterFile,
                  fmt::format("{}: extends {}, which is not known", path, parent));
    }
  }
  throw Error(kBadParameterFile, fmt::format("{}: extends itself", file.path));
}

bool ParameterFiles::reaches(const ParameterFile* from, const ParameterFile& file,
                             const std::string& key) const {
  for (; from != nullptr; from = from->extends.empty() ? nullptr : find(from->extends)) {
    if (from == &file) {
      return true;
    }
    if (from->fitted.contains(key) || from->values.contains(key)) {
      return false;
    }
  }
  return false;
}

std::vector<std::string> ParameterFiles::names() const {
  std::vector<std::string> result;
  for (const ParameterFile& file : files_) {
    result.push_back(file.name);
  }
  return result;
}

std::optional<Machine> Library::machine(const std::string& name_or_alias) const {
  const ParameterFile* file = machines.find(name_or_alias);
  if (file == nullptr) {
    return std::nullopt;
  }
  Machine machine = make_machine(file->name, machines.values(*file));
  machine.measured = file->measured;
  return machine;
}

std::optional<Stack> Library::stack(const std::string& name_or_alias) const {
  const ParameterFile* file = stacks.find(name_or_alias);
  if (file == nullptr) {
    return std::nullopt;
  }
  return make_stack(file->name, stacks.values(*file));
}

}  // namespace mpitron::plan
