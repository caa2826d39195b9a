#pragma once
#include "inference/grammar/pattern.h"

namespace mpitron::inference {

/// Returns the JSON texts that a schema allows (JSON Schema 2020-12, as far as texts written from
/// left to right can follow it): properties in the order of the schema, objects closed unless
/// `additionalProperties` opens them, white space as json_space. Error(data) with the place for a
/// schema that is none, that uses what is not available, or that nothing fits.
Grammar schema_grammar(std::string_view schema);

/// Allows any JSON object.
Grammar object_grammar();

}  // namespace mpitron::inference
