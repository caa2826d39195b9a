#pragma once
#include <map>
#include <string>

#include "cli/command.h"
#include "config/run_config.h"
#include "plan/machine/library.h"
#include "plan/published/validation.h"
#include "report/run_folder.h"

namespace mpitron::cli {

/// `mpitron plan FLAGS --world-size N --dry-run all`: the program of every class of ranks, played
/// without devices and peers, and the proof that all ranks fit together; exit code 23 where they do
/// not. `--dry-run RANK`: what that rank does.
int plan_dry_run(const Arguments& arguments);

/// `mpitron plan --fit RUN_DIR... --machine NAME [--stack NAME] [--stack-out FILE.yaml]`: fits
/// values of the software to the steps of runs and writes them as a stack file.
int plan_fit(const Arguments& arguments);

/// `mpitron plan --from-trace DIR --machine NAME [--what-if layout]`: the model held against the
/// traces of a profiled run, and a prediction of another layout that is corrected by them.
int plan_from_trace(const Arguments& arguments);

/// Returns a machine by its name in the library, or reads a .yaml file, which joins the library.
/// Error(usage) lists the names there are.
plan::Machine find_machine(plan::Library& library, const std::string& name);
/// Returns values of software in the same way.
plan::Stack find_stack(plan::Library& library, const std::string& name);

/// Reads "tp=4,pp=8" or "network.share=0.5" behind an option; Error(usage) for any other form.
std::map<std::string, double> assignments(const std::string& option, const std::string& text);
/// Returns the number; Error(usage) with the option's name where `text` is none.
double number(const std::string& option, const std::string& text);

/// Multiplies a value of the machine or the software; false where no key has this name.
bool multiply_value(plan::Machine& machine, plan::Stack& stack, const std::string& name,
                    double factor);

/// `mpitron plan OPTIONS --machine NAME|FILE [--search]`: predicted step time, memory and cost of a
/// layout, or the best layouts.
int plan_machine(const Arguments& arguments);

/// `mpitron plan --validate FILE [--refit [--folder FOLDER]] [--rows] [--json]`: predicted beside
/// published steps, errors by class.
int plan_validation(const Arguments& arguments);

/// One self-contained page without scripts: predicted over published seconds of each class, by
/// source, and the errors of classes and rows.
std::string validation_page(const plan::Validation& validation, const std::string& table);

/// Parses the options that the run was given again, so that defaults of today apply.
config::RunConfig run_of(const report::RunFolder& folder);

}  // namespace mpitron::cli
