#pragma once
#include <string>
#include <vector>

namespace mpitron::data {

/// Returns the files that --input means: a file is itself, "-" is standard input, a folder is every
/// JSONL and text file below it (`.jsonl`, `.json`, `.ndjson`, `.txt`, each also with `.gz` or
/// `.zst`), a pattern with `*`, `?` or `[` is what it matches. The files of a folder or pattern
/// come in the order of their names. Error(data) where one of them means no file, Error(usage) for
/// a file that is named twice.
std::vector<std::string> find_input_files(const std::vector<std::string>& inputs);

/// Throws Error(usage) where `output`, which `option` names, is one of these files: what it holds
/// would be lost.
void refuse_to_replace(const std::vector<std::string>& inputs, const std::string& option,
                       const std::string& output);

}  // namespace mpitron::data
