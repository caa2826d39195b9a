#pragma once
#include "inference/protocol/served_model.h"
#include "inference/templates/tool_call_grammar.h"

namespace mpitron::inference {

/// What a chat's `tools`, `tool_choice` and `parallel_tool_calls` ask of its answers.
struct ToolChoice {
  ToolFormat format = ToolFormat::none;           // how answers call functions; none: they do not
  bool several = true;                            // an answer may have more than one call
  std::vector<OfferedFunction> forced_functions;  // answers call these and say nothing else

  /// Whether answers have to call: with `required`, or a function's name.
  bool forced() const { return !forced_functions.empty(); }
  /// A text that is the same for the same language of forced calls.
  std::string described() const;
  /// Takes the calls out of a finished answer.
  CalledText read(const std::string& answer) const;
};

/// Reads the fields of a chat. The template tells the format; where answers have to call and the
/// template is of no known family they write tags. RequestError(400) for a choice that is none, and
/// for a function that `tools` does not have.
ToolChoice tool_choice(const ServedModel& model, const Fields& fields);

}  // namespace mpitron::inference
