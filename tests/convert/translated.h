#pragma once

#include "convert/names/hugging_face_config.h"
#include "convert/tiny_models.h"
#include "convert/translation.h"

// A small model and its tensors under another program's names.

namespace mpitron::convert {

struct Translated {
  explicit Translated(const std::string& family) : model(test::reference_model(family)) {
    description = read_hugging_face_config(model.config, family, 8);
    table = make_name_table(family, description);
  }
  test::ReferenceModel model;
  ModelDescription description;
  NameTable table;
};

}  // namespace mpitron::convert
