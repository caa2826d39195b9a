#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::convert {

enum class Format { mpitron, hugging_face, megatron_torch, megatron_torch_dist };

/// As the command line has them: "mpitron", "huggingface", "megatron-torch", "megatron-torch-dist".
std::string_view name_of(Format format);
std::vector<std::string> format_names();
/// Error(usage) for other words; `option` is named.
Format parse_format(const std::string& name, const std::string& option);

/// What lies at `path`, by the files that each format always has. Error(data) says what was looked
/// for.
Format detect_format(const std::filesystem::path& path);

}  // namespace mpitron::convert
