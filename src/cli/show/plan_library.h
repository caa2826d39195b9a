#pragma once
#include <map>
#include <string>

#include "plan/machine/library.h"

namespace mpitron::cli {

/// A machine of `mpitron plan` by its name, or of a .yaml file, which joins the library; the same
/// of software. Error(usage) lists what there is.
plan::Machine find_machine(plan::Library& library, const std::string& name);
plan::Stack find_stack(plan::Library& library, const std::string& name);

/// "tp=4,pp=8" or "network.share=0.5" behind an option.
std::map<std::string, double> assignments(const std::string& option, const std::string& text);
double number(const std::string& option, const std::string& text);

/// Multiplies a value of the machine or the software; false where no key has this name.
bool multiply_value(plan::Machine& machine, plan::Stack& stack, const std::string& name,
                    double factor);

}  // namespace mpitron::cli
