#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::convert {

/// The layouts of a model on disk that this program reads; it writes the first two.
enum class Format { mpitron, hugging_face, megatron_torch, megatron_torch_dist };

/// Returns the format as the command line has it: "mpitron", "huggingface", "megatron-torch",
/// "megatron-torch-dist".
std::string_view name_of(Format format);
std::vector<std::string> format_names();
/// Returns the format of this name. Error(usage) for other words; `option` is named.
Format parse_format(const std::string& name, const std::string& option);

/// Returns the format of what lies at `path`, by the files that each format always has. Error(data)
/// says what was looked for.
Format detect_format(const std::filesystem::path& path);

/// Returns whether there is a latest_checkpointed_iteration.txt, as Megatron and this program write
/// it.
bool has_tracker(const std::filesystem::path& root);

/// Returns the folder that the tracker chooses: iter_0000123 or release. `root` itself where there
/// is no tracker. Error(data) for a tracker with other text.
std::filesystem::path iteration_folder(const std::filesystem::path& root);

/// Returns 123 for iter_0000123, -1 for everything else.
Index iteration_of(const std::filesystem::path& folder);

}  // namespace mpitron::convert
