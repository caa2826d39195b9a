#pragma once
#include <span>
#include <string>

#include "inference/grammar/pattern.h"
#include "inference/templates/tool_calls.h"

namespace mpitron::inference {

/// A function that a request offers, with the JSON schema of its arguments.
struct OfferedFunction {
  std::string name;
  std::string parameters;
};

/// Returns the texts that call functions as the format writes it: one call or, with `several`, at
/// least one. Each is read back by read_tool_calls. Error(data) naming the function for a schema
/// that schema_grammar refuses.
Grammar tool_call_grammar(ToolFormat format, std::span<const OfferedFunction> functions,
                          bool several);

}  // namespace mpitron::inference
