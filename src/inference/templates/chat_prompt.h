#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace mpitron::inference {

/// Text of a chat request's `messages` (JSON), up to where the assistant is to write. Error(data)
/// tells what the template or the format cannot do.
using ChatPrompt = std::function<std::string(std::string_view messages)>;

/// The prompt of a known format of `tokenizers::ChatFormat` that this Jinja template writes; unset
/// where it is none of them. `bos`, `eos`: texts of these tokens.
ChatPrompt chat_prompt(std::string_view chat_template, const std::string& bos,
                       const std::string& eos);

}  // namespace mpitron::inference
