#pragma once
#include <string>

#include "convert/description/model_description.h"

namespace mpitron::convert {

/// Reads config.json of Hugging Face's transformers. `source` names the file in Error(data), which
/// tells every setting that this program cannot compute: a conversion that would change the model
/// is refused. The vocabulary is padded to a multiple of `make_vocab_size_divisible_by`. `wanted`:
/// a family that is asked for; the words of Qwen2-VL (qwen2_vl_text) are read of the whole.
ModelDescription read_hugging_face_config(const std::string& json, const std::string& source,
                                          Index make_vocab_size_divisible_by,
                                          const std::string& wanted = "");

/// The image encoder of CLIP's or SigLIP's config.json, or of that of the encoder alone: nothing
/// else is set in the description. Errors as above.
ModelDescription read_encoder_config(const std::string& json, const std::string& source);

/// Returns the config.json of a family. Fields that the description's own config.json had and that
/// have no meaning here (ids of special tokens, ...) come back as they were. Error(data) for a
/// family that is not known.
std::string write_hugging_face_config(const ModelDescription& description,
                                      const std::string& model_type);

}  // namespace mpitron::convert
