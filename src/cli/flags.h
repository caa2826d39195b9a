#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "utils/numbers/shape.h"

namespace mpitron::cli {

/// Says that a word is none of those that are allowed, with the nearest; empty where it is one.
std::string none_of(const std::string& word, const std::vector<std::string>& allowed);

/// Options of the small commands, which have no table of their own. Long names with dashes; `--flag
/// value` and `--flag=value`; `_` counts as `-`. Every target keeps its value as the default. The
/// only adapter of CLI11 here.
class Flags {
 public:
  /// `command`: as typed behind `mpitron`; messages name it. `summary`: one or two sentences for
  /// --help, which also shows `operands`, what else is typed behind the command ("RUN_DIR...").
  Flags(const std::string& command, const std::string& summary, const std::string& operands = "");
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  /// Options of one value; Error(usage) of parse() for a word that is no number of the target's
  /// type.
  void option(const std::string& name, std::string& target, const std::string& help);
  void option(const std::string& name, Index& target, const std::string& help);
  void option(const std::string& name, double& target, const std::string& help);
  /// One or more values behind the name.
  void option(const std::string& name, std::vector<std::string>& target, const std::string& help);
  void flag(const std::string& name, bool& target, const std::string& help);
  /// Another spelling of the last option.
  void also(const std::string& name);
  /// Makes the last option required.
  void required();
  /// The last option accepts these values only.
  void choices(const std::vector<std::string>& allowed);

  /// Fills the targets. False when --help was asked for and printed. Error(usage) for anything that
  /// is not allowed.
  bool parse(const Arguments& arguments);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mpitron::cli
