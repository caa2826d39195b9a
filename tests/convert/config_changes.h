#pragma once
#include "convert/names/hugging_face_config.h"
#include "convert/tiny_models.h"

// config.json of the tiny models, with changes.

namespace mpitron::test {

using Json = nlohmann::ordered_json;

inline Json with(const std::string& family, const Json& changes) {
  Json json = Json::parse(reference_model(family).config);
  if (!changes.is_null()) {
    json.update(changes);
  }
  return json;
}

inline config::ModelConfig model_of(const Json& json) {
  return convert::read_hugging_face_config(json.dump(), "config.json", 8).model;
}

/// The message; "" where it is taken.
inline std::string refusal(const Json& json) {
  try {
    model_of(json);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace mpitron::test
