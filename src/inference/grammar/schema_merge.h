#pragma once
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace mpitron::inference {

/// Returns one schema that says what two say. Error(data) for two statements about the same that
/// are not equal and have no common form.
nlohmann::ordered_json merge_schemas(const nlohmann::ordered_json& a,
                                     const nlohmann::ordered_json& b);

/// Returns a schema with its `$ref` replaced by what it names; itself where `keeps`, or where there
/// is none. Error(data) for references to references without end.
nlohmann::ordered_json resolve_reference(const nlohmann::ordered_json& root,
                                         const nlohmann::ordered_json& schema, bool keeps);

/// Returns a schema without keywords that speak of other types.
nlohmann::ordered_json keywords_of_type(const nlohmann::ordered_json& schema,
                                        std::string_view type);

}  // namespace mpitron::inference
