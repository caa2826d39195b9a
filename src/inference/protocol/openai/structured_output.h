#pragma once
#include "inference/protocol/served_model.h"

namespace mpitron::inference {

/// Returns the constraint that `response_format`, `guided_json`, `guided_regex`, `guided_choice`,
/// `guided_grammar` or a field of `structured_outputs` (at most one of them) hold answers to; unset
/// where a request has none. `ends`: ids that end an
/// answer where its text may end. RequestError(400) naming the field; for schemas and expressions
/// with the place in them.
MakeConstraint structured_output(const ServedModel& model, const Fields& fields,
                                 const std::vector<TokenId>& ends);

/// Returns the constraint that holds answers to a language, which is compiled once for equal texts
/// of a field. RequestError(400) naming the field for what the compiler refuses.
MakeConstraint held_to(const ServedModel& model, const std::string& field, const std::string& text,
                       const std::function<Grammar()>& language, const std::vector<TokenId>& ends);

}  // namespace mpitron::inference
