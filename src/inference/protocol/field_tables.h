#pragma once
#include "inference/protocol/fields.h"

namespace mpitron::inference {

// Bodies of requests, field by field. What is not listed is ignored, as clients send much that
// only some servers know.
FieldRules completion_fields();
FieldRules chat_fields();
FieldRules tokenize_fields();
FieldRules detokenize_fields();
/// Of Megatron's PUT /api, whose reader has the order and the texts of its refusals.
FieldRules megatron_fields();

}  // namespace mpitron::inference
