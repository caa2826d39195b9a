#include <charconv>

#include "cli/show/plan_commands.h"
#include "utils/log.h"
#include "utils/system/files.h"

// Words of `mpitron plan` that several of its forms share: machines and stacks by name or file,
// numbers, and NAME=VALUE lists.

namespace mpitron::cli {
namespace {

bool names_parameter_file(const std::string& name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

/// Reads a file into the library and returns its name there.
std::string add_file(plan::ParameterFiles& files, const std::string& path) {
  plan::ParameterFile file = plan::parse_parameter_file(read_file(path), path);
  const std::string name = file.name;
  files.add(std::move(file));
  return name;
}

template <class T>
bool multiply(T& target, std::span<const plan::ParameterKey<T>> keys, const std::string& name,
              double factor) {
  for (const plan::ParameterKey<T>& key : keys) {
    if (name == key.key) {
      target.*key.field *= factor;
      return true;
    }
  }
  return false;
}

}  // namespace

plan::Machine find_machine(plan::Library& library, const std::string& name) {
  const auto machine =
      library.machine(names_parameter_file(name) ? add_file(library.machines, name) : name);
  if (!machine) {
    throw_usage("plan: --machine {}: not known; a .yaml file or one of {}", name,
                fmt::join(library.machines.names(), ", "));
  }
  return *machine;
}

plan::Stack find_stack(plan::Library& library, const std::string& name) {
  const auto stack =
      library.stack(names_parameter_file(name) ? add_file(library.stacks, name) : name);
  if (!stack) {
    throw_usage("plan: --stack {}: not known; a .yaml file or one of {}", name,
                fmt::join(library.stacks.names(), ", "));
  }
  return *stack;
}

double number(const std::string& option, const std::string& text) {
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc{} || end.ptr != text.data() + text.size()) {
    throw_usage("plan: {} {}: a number is expected", option, text);
  }
  return value;
}

/// "tp=4,pp=8" or "network.share=0.5".
std::map<std::string, double> assignments(const std::string& option, const std::string& text) {
  std::map<std::string, double> result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string one = text.substr(at, end - at);
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos) {
      throw_usage("plan: {} {}: NAME=VALUE is expected, several with commas", option, text);
    }
    result[one.substr(0, equals)] = number(option, one.substr(equals + 1));
    at = end + 1;
  }
  return result;
}

bool multiply_value(plan::Machine& machine, plan::Stack& stack, const std::string& name,
                    double factor) {
  return multiply(machine, plan::machine_keys(), name, factor) ||
         multiply(stack, plan::stack_keys(), name, factor);
}

}  // namespace mpitron::cli
