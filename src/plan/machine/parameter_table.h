#pragma once
#include <map>
#include <span>
#include <string>

#include "plan/machine/machine.h"

namespace mpitron::plan {

/// A key of a machine or stack file: where its value goes and what is plausible.
template <class T>
struct ParameterKey {
  const char* key;
  double T::*field;
  double least;
  double most;
  double spread;  // how far fitted values lie from plain ones: of logarithms, or log-odds of shares
  bool required = false;
};

/// All keys of machine files and of stack files.
std::span<const ParameterKey<Machine>> machine_keys();
std::span<const ParameterKey<Stack>> stack_keys();

/// A value as it is written, with its file, for messages.
struct WrittenValue {
  std::string text;
  std::string path;
};
using WrittenValues = std::map<std::string, WrittenValue>;
/// Makes a machine or stack of its values. Error(kBadParameterFile) for keys that do not exist
/// (with the nearest), values outside of what is plausible and missing ones.
Machine make_machine(const std::string& name, const WrittenValues& values);
Stack make_stack(const std::string& name, const WrittenValues& values);

}  // namespace mpitron::plan
