#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/machine/machine.h"
#include "plan/machine/parameter_file.h"
#include "plan/machine/parameter_table.h"

namespace mpitron::plan {

/// A machine or stack file that is part of the program.
struct ShippedFile {
  const char* path;  // from the source folder
  const char* text;
};
std::vector<ShippedFile> shipped_machines();
std::vector<ShippedFile> shipped_stacks();
std::vector<ShippedFile> shipped_recipe_files();

/// Files of one kind, found by name, alias or path.
class ParameterFiles {
 public:
  explicit ParameterFiles(const std::vector<ShippedFile>& shipped);

  void add(ParameterFile file);
  /// The file with this name or alias; none where nothing is known of it.
  const ParameterFile* find(const std::string& name) const;
  /// Its values and those of what it extends. Throws where a file extends one that is not there.
  WrittenValues values(const ParameterFile& file) const;
  /// Whether what extends files as far as `from` sees the value of `key` in `file`.
  bool reaches(const ParameterFile* from, const ParameterFile& file, const std::string& key) const;
  std::vector<ParameterFile>& all() { return files_; }
  const std::vector<ParameterFile>& all() const { return files_; }
  std::vector<std::string> names() const;

 private:
  std::vector<ParameterFile> files_;
};

/// All that is known of machines and software.
struct Library {
  ParameterFiles machines{shipped_machines()};
  ParameterFiles stacks{shipped_stacks()};

  std::optional<Machine> machine(const std::string& name_or_alias) const;
  std::optional<Stack> stack(const std::string& name_or_alias) const;
};

}  // namespace mpitron::plan
