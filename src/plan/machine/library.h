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
/// Files of src/plan/machines, stacks and recipes, compiled into the program.
std::vector<ShippedFile> shipped_machines();
std::vector<ShippedFile> shipped_stacks();
std::vector<ShippedFile> shipped_recipe_files();

/// Files of one kind, found by name, alias or path.
class ParameterFiles {
 public:
  explicit ParameterFiles(const std::vector<ShippedFile>& shipped);

  /// Adds a file, in place of one of the same name.
  void add(ParameterFile file);
  /// Returns the file with this name or alias; null where nothing is known of it.
  const ParameterFile* find(const std::string& name) const;
  /// Returns its values and those of what it extends. Error(kBadParameterFile) where a file extends
  /// one that is not there, or itself.
  WrittenValues values(const ParameterFile& file) const;
  /// Returns whether `from`, or what it inherits from, sees the value of `key` in `file`: a nearer
  /// file may have one of its own.
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

  /// Returns the machine of this name with all inherited values; none where no file has it.
  /// Error(kBadParameterFile) for values that are missing or implausible.
  std::optional<Machine> machine(const std::string& name_or_alias) const;
  /// Returns the software in the same way.
  std::optional<Stack> stack(const std::string& name_or_alias) const;
};

}  // namespace mpitron::plan
